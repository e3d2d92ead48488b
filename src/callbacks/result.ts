import { errors } from 'undici';
import { describeAttempts, TicketsError } from '../names/dialling.ts';
import { ProxyError } from '../proxy/proxy-error.ts';
import { refusedDestination } from '../egress/url-policy.ts';
import { tlsReasonOf } from './tls-reason.ts';

/** Why no response was received. Codes are stable: logs, metrics and the list of attempts use them. */
export type CallbackFailureCode = keyof typeof failureDetails;

/**
 * A response whose status and headers arrived within the deadline. `excerpt` is the beginning of its body, at
 * most 1 KiB read as UTF-8. `body` says whether the body arrived completely, was cut off here for its size or
 * the deadline, or broke on the way.
 */
export interface CallbackResponse {
  readonly kind: 'response';
  readonly statusCode: number;
  /** The Retry-After header as sent, null when absent or repeated. */
  readonly retryAfter: string | null;
  /** Milliseconds since the epoch when the headers arrived; Retry-After counts from then. */
  readonly receivedAtMs: number;
  readonly excerpt: string;
  /** As undici parsed them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: 'complete' | 'cut' | 'broken';
  readonly durationMs: number;
}

/**
 * No response. `detail` is a sentence for the subscriber, with the permitted addresses that were tried.
 */
export interface CallbackFailure {
  readonly kind: 'failure';
  readonly code: CallbackFailureCode;
  readonly detail: string;
  /**
   * False when no connection was made, or either side refused its TLS: the receiver cannot have read anything
   * of the event.
   */
  readonly sent: boolean;
  /** With `proxy_error`, milliseconds after which another try is worth it. */
  readonly retryAfterMs?: number;
  readonly durationMs: number;
}

/** The result of one POST. */
export type CallbackResult = CallbackResponse | CallbackFailure;

/** One sentence per failure for the subscriber. */
export const failureDetails = {
  timeout: 'The receiver did not answer in time.',
  dns_error: 'The host name could not be resolved.',
  blocked_address: refusedDestination,
  connection_refused: 'The connection was refused.',
  connection_reset: 'The connection was closed before an answer arrived.',
  unreachable: 'The host could not be reached.',
  tls_error: 'The TLS connection could not be established or its certificate is not trusted.',
  malformed_response: 'The answer is not valid HTTP/1.1.',
  response_too_large: 'The headers of the answer are larger than 16 KiB.',
  sender_error: 'The callback could not be sent for a reason on the sending side.',
  proxy_error: 'The forward proxy does not work; the callback waits for it.',
  proxy_refused: 'The forward proxy did not connect to the endpoint.',
  aborted: 'The sending process stopped before the receiver answered; the callback is sent again.',
} as const;

const failureCodes: Readonly<Record<string, CallbackFailureCode>> = {
  ERR_BLOCKED_ADDRESS: 'blocked_address',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  ENOTFOUND: 'dns_error',
  ENODATA: 'dns_error',
  ESERVFAIL: 'dns_error',
  UND_ERR_HEADERS_OVERFLOW: 'response_too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'malformed_response',
  EPROTO: 'tls_error',
};

/** Families of codes: getaddrinfo, TLS, and OpenSSL's certificate verification. */
const failureCodePatterns: readonly (readonly [RegExp, CallbackFailureCode])[] = [
  [/^EAI_/, 'dns_error'],
  [/^ERR_(?:TLS|SSL|OSSL|CRYPTO)_/, 'tls_error'],
  [
    /^(?:CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH|ERROR_IN|OUT_OF_MEM)/,
    'tls_error',
  ],
];

/**
 * Translates errors of undici, the sockets and the resolver. An error that does not come from the receiver or
 * the network, such as exhausted file descriptors, is charged to the sender.
 */
export function failureCodeOf(error: unknown): CallbackFailureCode {
  if (!(error instanceof Error)) return 'sender_error';
  if (error instanceof ProxyError) return error.fault === 'proxy' ? 'proxy_error' : 'proxy_refused';
  // Tested by its class, because undici 8 leaves the code of a parser error undefined.
  if (error instanceof errors.HTTPParserError) return 'malformed_response';
  const code = codeOf(error);
  // undici reports an unrequested interim 100 or upgrade as a socket error; only the message differs.
  if (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')) return 'malformed_response';
  return (
    failureCodes[code] ?? failureCodePatterns.find(([pattern]) => pattern.test(code))?.[1] ?? 'sender_error'
  );
}

/**
 * The failure that an error of undici, the sockets or the resolver means; `connected` when it came later than
 * the connection.
 */
export function failureOf(
  error: unknown,
  connected: boolean,
): Pick<CallbackFailure, 'code' | 'detail' | 'sent' | 'retryAfterMs'> {
  const code = failureCodeOf(error);
  if (error instanceof ProxyError)
    return { code, detail: error.message, sent: false, retryAfterMs: error.retryAfterMs };
  if (error instanceof TicketsError)
    return { code, detail: `The endpoint sent ${error.message}.`, sent: connected };
  const refusal = code === 'tls_error' ? tlsReasonOf(codeOf(error)) : null;
  const detail = refusal ?? (connected ? detailOfAnswer(code, error) : detailOfAttempts(code, error));
  return { code, detail, sent: connected && refusal === null };
}

const dialFailures: ReadonlySet<string> = new Set<CallbackFailureCode>([
  'timeout',
  'connection_refused',
  'unreachable',
]);

function detailOfAttempts(code: CallbackFailureCode, error: unknown): string {
  const tried = error instanceof Error && dialFailures.has(code) ? describeAttempts(error) : null;
  if (tried === null) return failureDetails[code];
  return `No connection${code === 'timeout' ? ' in time' : ''}: ${tried}.`;
}

/** A sentence for a deadline before the request could be sent, with the addresses that were tried. */
export function detailOfSilence(code: CallbackFailureCode, dialled: readonly string[]): string {
  if (code !== 'timeout' || dialled.length === 0) return failureDetails[code];
  return `No connection was ready in time at ${dialled.slice(0, shownAddressesMax).join(', ')}.`;
}

// Maximum number of addresses that are named.
const shownAddressesMax = 4;

function detailOfAnswer(code: CallbackFailureCode, error: unknown): string {
  if (code !== 'malformed_response' || !(error instanceof Error)) return failureDetails[code];
  if (error.message === 'bad upgrade')
    return 'The answer is 101 Switching Protocols, which was not asked for.';
  if (codeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return 'The Content-Length of the answer is no number, is there twice or stands beside Transfer-Encoding.';
  const from = error.message.indexOf('(');
  return from === -1
    ? failureDetails[code]
    : `The answer is not valid HTTP/1.1 ${error.message.slice(from)}.`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
