import { errors } from 'undici';
import { REFUSED_DESTINATION } from '../egress/url-policy.ts';

/** Why no answer was received. Stable: used in logs, metrics and the list of attempts. */
export type CallbackFailureCode =
  | 'timeout'
  | 'dns_error'
  | 'blocked_address'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'tls_error'
  | 'malformed_response'
  | 'response_too_large'
  | 'sender_error'
  | 'aborted';

/**
 * An answer whose status and headers arrived within the deadline. `excerpt` is the beginning of the body as
 * it came, at most 1 KiB read as UTF-8, with `body` telling whether the body came to its end, was cut off
 * here for its size or the deadline, or broke on the way.
 */
export interface CallbackResponse {
  readonly kind: 'response';
  readonly statusCode: number;
  /** The Retry-After header as sent, null when absent or repeated. */
  readonly retryAfter: string | null;
  /** Epoch milliseconds at which the headers arrived: what Retry-After counts from. */
  readonly receivedAtMs: number;
  readonly excerpt: string;
  readonly body: 'complete' | 'cut' | 'broken';
  readonly durationMs: number;
}

/**
 * No answer. `detail` is a sentence for the subscriber: it holds neither addresses nor anything the receiver
 * chose.
 */
export interface CallbackFailure {
  readonly kind: 'failure';
  readonly code: CallbackFailureCode;
  readonly detail: string;
  /** False when no connection came about, so that nothing of the event can have reached the receiver. */
  readonly sent: boolean;
  readonly durationMs: number;
}

/** What came of one POST. */
export type CallbackResult = CallbackResponse | CallbackFailure;

/** One sentence per failure for the subscriber. */
export const FAILURE_DETAILS: Readonly<Record<CallbackFailureCode, string>> = {
  timeout: 'The receiver did not answer in time.',
  dns_error: 'The host name could not be resolved.',
  blocked_address: REFUSED_DESTINATION,
  connection_refused: 'The connection was refused.',
  connection_reset: 'The connection was closed before an answer arrived.',
  unreachable: 'The host could not be reached.',
  tls_error: 'The TLS connection could not be established or its certificate is not trusted.',
  malformed_response: 'The answer is not valid HTTP/1.1.',
  response_too_large: 'The headers of the answer are too large.',
  sender_error: 'The callback could not be sent for a reason on the sending side.',
  aborted: 'The sending process stopped before the receiver answered; the callback is sent again.',
};

const CODES: Readonly<Record<string, CallbackFailureCode>> = {
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
const CODE_PATTERNS: readonly (readonly [RegExp, CallbackFailureCode])[] = [
  [/^EAI_/, 'dns_error'],
  [/^ERR_(?:TLS|SSL|OSSL)_/, 'tls_error'],
  [
    /^(?:CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH|ERROR_IN|OUT_OF_MEM)/,
    'tls_error',
  ],
];

/**
 * Translates what undici, the sockets and the resolver throw. What is not known to come from the receiver or
 * the network, such as exhausted file descriptors or a header that cannot be sent, is charged to the sender.
 */
export function failureCodeOf(error: unknown): CallbackFailureCode {
  if (!(error instanceof Error)) return 'sender_error';
  // The class, because undici 8 leaves the code of a parser error undefined.
  if (error instanceof errors.HTTPParserError) return 'malformed_response';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // undici reports an interim 100 or an upgrade nobody asked for as a socket error; only the message differs.
  if (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')) return 'malformed_response';
  return CODES[code] ?? CODE_PATTERNS.find(([pattern]) => pattern.test(code))?.[1] ?? 'sender_error';
}
