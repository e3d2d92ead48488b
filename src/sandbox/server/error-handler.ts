import { type Socket } from 'node:net';
import { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { errorStatus } from '../decisions.ts';
import { SandboxError, errorBody, type ErrorCode, type Problem } from '../errors.ts';
import { patternMeanings } from '../filings/input-schema.ts';
import { fieldErrors, type SchemaViolation } from '../../json/validation-problems.ts';
import { type SandboxApp } from '../sandbox-app.ts';

// Failures that Fastify finds before a route sees the request, by its error code.
const frameworkCodes: ReadonlyMap<string, FrameworkCode> = new Map([
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'UNSUPPORTED_MEDIA_TYPE'],
  ['FST_ERR_CTP_EMPTY_TYPE', 'UNSUPPORTED_MEDIA_TYPE'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'BODY_TOO_LARGE'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'MALFORMED_JSON'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'MALFORMED_JSON'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'MALFORMED_REQUEST'],
  ['FST_ERR_BAD_URL', 'MALFORMED_REQUEST'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'MALFORMED_REQUEST'],
]);

type FrameworkCode = keyof typeof frameworkMessages;

// The sandbox's own messages, because the framework's repeat the input in full.
const frameworkMessages = {
  UNSUPPORTED_MEDIA_TYPE: 'this content-type is not supported',
  BODY_TOO_LARGE: 'the request body is too large',
  MALFORMED_JSON: 'the request body is not JSON',
  MALFORMED_REQUEST: 'the request could not be read',
} as const;

// Node's own failures, on connections from which no request could be read.
const connectionCodes: ReadonlyMap<string, ErrorCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** Gives every failure the one documented body. Unexpected errors are logged and answered with 500. */
export function addErrorHandlers(app: SandboxApp): void {
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(sendRouteNotFound);
}

/** Responds to a failure, also to one that the framework finds before it knows the route. */
export function sendError(
  error: FastifyError | SandboxError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const failure = toSandboxError(error, request);
  if (failure.code === 'INTERNAL_ERROR') request.log.error({ err: error }, 'request failed unexpectedly');
  void reply
    .code(errorStatus[failure.code])
    .type('application/json; charset=utf-8')
    .send(errorBody(failure.code, failure.message, failure.details));
}

/** Responds to a path that is no endpoint. */
function sendRouteNotFound(request: FastifyRequest, reply: FastifyReply): void {
  const path = request.url.split('?')[0]?.slice(0, 200) ?? '';
  sendError(new SandboxError('ROUTE_NOT_FOUND', `there is no ${request.method} ${path}`), request, reply);
}

/** Answers a connection from which no request could be read, and closes it. */
export function answerBrokenConnection(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = connectionCodes.get(error.code ?? '') ?? 'MALFORMED_REQUEST';
  const body = JSON.stringify(errorBody(code, 'the request could not be read'));
  const head = [
    `HTTP/1.1 ${errorStatus[code]} `,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toSandboxError(error: FastifyError | SandboxError, request: FastifyRequest): SandboxError {
  if (error instanceof SandboxError) return error;
  if (error.validation !== undefined) {
    const inBody = error.validationContext === 'body';
    const code = inBody ? 'INVALID_INPUT' : 'INVALID_REQUEST';
    return new SandboxError(
      code,
      `the request${inBody ? ' body' : ''} is not valid`,
      toProblems(error.validation, inBody ? request.routeOptions.schema?.body : undefined),
    );
  }
  // A body with `__proto__` is refused by the parser with a plain SyntaxError of status 400.
  const code = frameworkCodes.get(error.code) ?? (error.statusCode === 400 ? 'MALFORMED_JSON' : undefined);
  if (code !== undefined) return new SandboxError(code, frameworkMessages[code]);
  return new SandboxError('INTERNAL_ERROR', 'the service failed unexpectedly');
}

function toProblems(violations: readonly SchemaViolation[], schema: unknown): Problem[] {
  const errors = fieldErrors(violations, (violation, at) => explain(violation, at, schema));
  return errors.map(({ path, message }) => ({ field: path, message }));
}

function explain(
  { keyword, params }: SchemaViolation,
  at: readonly string[],
  schema: unknown,
): string | undefined {
  if (keyword === 'additionalProperties') return notKnown(schema, at);
  if (keyword === 'pattern') return patternMeanings.get((params as { pattern?: unknown }).pattern);
  return keyword === 'format' ? 'must be a calendar date, YYYY-MM-DD' : undefined;
}

/** Lists the known fields if the schema of the body names them. */
function notKnown(schema: unknown, at: readonly string[]): string {
  const object = at.reduce<unknown>((part, name) => propertiesOf(part)[name], schema);
  const known = Object.keys(propertiesOf(object));
  return known.length === 0 ? 'is not known' : `is not known; there are ${known.join(', ')}`;
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
}
