// The proxy's own trouble, with a sentence for the subscriber.
const ofProxy = {
  /** Refused, reset or no connection in time. */
  unreachable: 'The forward proxy cannot be reached',
  unknown_name: 'The name of the forward proxy could not be resolved',
  tls: 'The TLS connection to the forward proxy could not be established, or its certificate is not trusted',
  credentials: 'The forward proxy does not accept the credentials of the daemon (407)',
  malformed: 'The answer of the forward proxy is not valid HTTP/1.1, or its headers are too large',
};

// Trouble with one endpoint.
const ofEndpoint = {
  /** 403 and every other status that is none of the following. */
  refused: 'The forward proxy does not permit a connection to the endpoint',
  /** 500, 502, 503, 504. */
  no_connection: 'The forward proxy could not connect to the endpoint',
  silent: 'The forward proxy did not connect to the endpoint in time',
  closed: 'The forward proxy closed the connection without an answer',
};

const details = { ...ofProxy, ...ofEndpoint };

/** Why there is no tunnel. Names are stable: metrics and logs use them. */
export type ProxyReason = keyof typeof details;

/**
 * No tunnel through the proxy. With the fault `proxy` the endpoint has nothing to do with it, and the request
 * waits; with `endpoint` it is about this endpoint. The message names no address, no credentials and no text
 * of the proxy.
 */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'ERR_PROXY';
  readonly reason: ProxyReason;
  readonly fault: 'proxy' | 'endpoint';
  /** The status of the answer to CONNECT, or null if there was none. */
  readonly status: number | null;
  /** Milliseconds after which to try again; 0 if the endpoint is at fault. */
  readonly retryAfterMs: number;

  constructor(reason: ProxyReason, status: number | null = null, retryAfterMs = 0) {
    const fault = reason in ofProxy ? 'proxy' : 'endpoint';
    super(`${details[reason]}${fault === 'endpoint' && status !== null ? ` (${status})` : ''}.`);
    this.reason = reason;
    this.fault = fault;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The error that an answer to CONNECT is (RFC 9110 §9.3.6); null for a tunnel. */
export function errorOfStatus(status: number): ProxyError | null {
  if (status >= 200 && status <= 299) return null;
  if (status === 407) return new ProxyError('credentials', status);
  return new ProxyError([500, 502, 503, 504].includes(status) ? 'no_connection' : 'refused', status);
}
