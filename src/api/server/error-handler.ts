import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AccountQuotaError, quotaBytesMax } from '../../redis/quota/account-quota.ts';
import { isStoreFailure } from '../../redis/store-failure.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import { tooManyPieces } from './bounded-server.ts';
import { Problem, problemBody, type ProblemCode, problemType, shorten } from '../shared/problem.ts';

// For these codes, Fastify's own messages say no more than the title.
const details: Partial<Record<ProblemCode, string>> = {
  payload_too_large: 'Send no more than 256 KiB, or 4 KiB to sign in.',
  unsupported_media_type: 'Send the body as application/json.',
};

// Maximum characters of Fastify's own messages, which repeat the path in full.
const detailMax = 200;

// Fastify's own failures, by its error code.
const frameworkCodes: ReadonlyMap<string, ProblemCode> = new Map([
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'malformed_request'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'payload_too_large'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'uri_too_long'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
  ['FST_ERR_CTP_EMPTY_TYPE', 'unsupported_media_type'],
  ['FST_ERR_HANDLER_TIMEOUT', 'timeout'],
]);

// Node's own failures, on connections from which no request could be read.
const connectionCodes: ReadonlyMap<string, keyof typeof wayOf> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  [tooManyPieces, 'payload_too_large'],
]);

/**
 * The problem that a client gets for an error. An unexpected error becomes an `internal_error` that shows
 * nothing internal. `ofRead` says that the request changes nothing.
 */
export function toProblem(error: unknown, ofRead = false): Problem {
  if (error instanceof Problem) return error;
  if (isStoreFailure(error)) return storeUnavailable(ofRead);
  if (error instanceof AccountQuotaError) return quotaExceeded(error);
  // The messages of these errors say what to do and hold no stored data.
  if (error instanceof SealError) return new Problem('secret_unreadable', error.message);
  const unreadable = toUnreadable(error);
  if (unreadable !== null)
    return new Problem('record_unreadable', `${sentence(unreadable.message)} ${restoring}`);
  const { code = '', message } = (error ?? {}) as Partial<FastifyError>;
  const known = frameworkCodes.get(code);
  if (code === 'FST_ERR_BAD_URL')
    return new Problem('malformed_request', `The path cannot be decoded. ${wayOf.malformed_request}`);
  if (known !== undefined)
    return new Problem(known, details[known] ?? shorten(message ?? known, detailMax), retryHeaders(known));
  return new Problem(
    'internal_error',
    'The daemon failed unexpectedly; its log says why. Trying again may help.',
  );
}

/** Responds to a failure, also to one that the framework finds before it knows the route. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { method, raw } = request;
  // If the client disconnected or timed out while it sent the body, nothing failed in the daemon, and the
  // response is not read.
  const problem =
    error === raw.errored
      ? new Problem('request_timeout', 'The connection ended before the request did.')
      : toProblem(error, method === 'GET' || method === 'HEAD');
  if (problem.statusCode >= 500 && error !== problem) logFailure(error, request);
  // A table that could not be made is no file to be saved.
  void reply
    .removeHeader('content-disposition')
    .code(problem.statusCode)
    .headers({ 'cache-control': 'no-store', ...problem.headers })
    .type(problemType)
    .send(JSON.stringify(problemBody(problem)));
}

/** Refuses a path without a route, before the body is read. */
export async function refuseWithoutRoute({ is404, url }: FastifyRequest): Promise<void> {
  if (!is404) return;
  const path = url.split('?', 1)[0]?.slice(0, 200);
  const hint = path?.endsWith('/') === true ? 'leave out the slash at its end, or see' : 'see';
  throw new Problem('not_found', `There is no ${path}; ${hint} /docs for all paths.`);
}

/** Answers a connection from which no request could be read, and closes it. */
export function answerBrokenConnection(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(brokenAnswers[connectionCodes.get(error.code ?? '') ?? 'malformed_request']);
}

// For requests that could not be read: how to be read.
const wayOf = {
  malformed_request: 'Send valid HTTP/1.1, and percent-encode what stands in the path (% itself as %25).',
  request_timeout: 'The request did not arrive in time. Send it again, as a whole.',
  headers_too_large: `The headers take more than ${maxHeaderSize / 1024} KiB with the path. Send fewer, or shorter ones.`,
  payload_too_large: 'The body came in too many small pieces. Send it at once, with Content-Length.',
};

// Made once: slow clients time out by the thousand.
const brokenAnswers = Object.fromEntries(
  Object.entries(wayOf).map(([code, way]) => [code, brokenAnswer(code, way)]),
) as Record<keyof typeof wayOf, Buffer>;

function brokenAnswer(code: string, way: string): Buffer {
  const problem = new Problem(code as keyof typeof wayOf, `The connection is closed. ${way}`);
  const body = JSON.stringify(problemBody(problem));
  return Buffer.from(
    `HTTP/1.1 ${problem.statusCode} \r\ncontent-type: ${problemType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}

const restoring = 'The operator restores or removes it (docs/operations.md, Records that cannot be read).';

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function storeUnavailable(ofRead: boolean): Problem {
  const detail = ofRead
    ? 'Redis does not answer, so this could not be read; try again.'
    : 'Redis does not answer or refuses writes. It is not known whether a change was made; try again.';
  return new Problem('store_unavailable', detail, retryHeaders('store_unavailable'));
}

function quotaExceeded({ usedBytes }: AccountQuotaError): Problem {
  return new Problem(
    'account_quota_exceeded',
    `The account stores ${usedBytes} of at most ${quotaBytesMax} bytes, and this would be more. Remove subscriptions, or shorten ` +
      'their URLs, headers and descriptions. Idempotency keys count for 24 hours, and replays until newer ones replace them.',
  );
}

function retryHeaders(code: ProblemCode): { headers: Record<string, string> } {
  return { headers: code === 'store_unavailable' || code === 'timeout' ? { 'retry-after': '5' } : {} };
}

// Logs only these fields: errors of client libraries carry commands and options.
function logFailure(error: unknown, request: FastifyRequest): void {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  request.log.error({ error: { name, message, stack }, route: request.routeOptions.url }, 'http.failed');
}
