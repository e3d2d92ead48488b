/** Why there is no tunnel. Names are stable: metrics and logs use them. */
export type ProxyReason =
  // The proxy's own trouble.
  | 'unreachable' // refused, reset or no connection in time
  | 'unknown_name' // its name has no address
  | 'tls' // the TLS connection to the proxy itself
  | 'credentials' // 407
  | 'malformed' // no HTTP, or headers beyond Node's maximum
  | 'doubted' // it refuses one endpoint after the other, and connects to none
  // About one endpoint.
  | 'refused' // 403 and every other status that is none of the following
  | 'no_connection' // 500, 502, 503, 504
  | 'silent' // no answer to CONNECT in time
  | 'closed'; // no answer to CONNECT at all

/** Every reason with the side at fault and a sentence for the subscriber. */
const meanings: Readonly<
  Record<ProxyReason, { readonly fault: 'proxy' | 'endpoint'; readonly detail: string }>
> = {
  unreachable: own('The forward proxy cannot be reached'),
  unknown_name: own('The name of the forward proxy could not be resolved'),
  tls: own(
    'The TLS connection to the forward proxy could not be established, or its certificate is not trusted',
  ),
  credentials: own('The forward proxy does not accept the credentials of the daemon (407)'),
  malformed: own('The answer of the forward proxy is not valid HTTP/1.1, or its headers are too large'),
  doubted: own('The forward proxy connects to no endpoint'),
  refused: about('The forward proxy does not permit a connection to the endpoint'),
  no_connection: about('The forward proxy could not connect to the endpoint'),
  silent: about('The forward proxy did not connect to the endpoint in time'),
  closed: about('The forward proxy closed the connection without an answer'),
};

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
  /** The status of the answer to CONNECT; null when there was none. */
  readonly status: number | null;
  /** Milliseconds after which another try is worth it; 0 where the fault is the endpoint's. */
  readonly retryAfterMs: number;

  constructor(reason: ProxyReason, details: { status?: number | null; retryAfterMs?: number } = {}) {
    const { fault, detail } = meanings[reason];
    const status = details.status ?? null;
    super(fault === 'endpoint' && status !== null ? `${detail} (${status}).` : `${detail}.`);
    this.reason = reason;
    this.fault = fault;
    this.status = status;
    this.retryAfterMs = details.retryAfterMs ?? 0;
  }
}

/** The error that an answer to CONNECT is (RFC 9110 §9.3.6); null for a tunnel. */
export function errorOfStatus(status: number): ProxyError | null {
  if (status >= 200 && status <= 299) return null;
  if (status === 407) return new ProxyError('credentials', { status });
  const failed = status === 500 || status === 502 || status === 503 || status === 504;
  return new ProxyError(failed ? 'no_connection' : 'refused', { status });
}

function own(detail: string) {
  return { fault: 'proxy', detail } as const;
}

function about(detail: string) {
  return { fault: 'endpoint', detail } as const;
}
