import { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { errorStatus } from '../decisions.ts';
import { SandboxError, errorBody } from '../errors.ts';
import { queryMeanings } from '../filings/filing-list.ts';
import { patternMeanings } from '../filings/input-schema.ts';
import { fieldErrors } from '../../json/validation-problems.ts';
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

const meanings = new Map<unknown, string>([...patternMeanings, ...queryMeanings]);

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
  const failure = toSandboxError(error);
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

function toSandboxError(error: FastifyError | SandboxError): SandboxError {
  if (error instanceof SandboxError) return error;
  if (error.validation !== undefined) {
    const inBody = error.validationContext === 'body';
    const errors = fieldErrors(error.validation, ({ keyword, params }) => {
      if (keyword === 'pattern') return meanings.get((params as { pattern?: unknown }).pattern);
      return keyword === 'format' ? 'must be a calendar date, YYYY-MM-DD' : undefined;
    });
    return new SandboxError(
      inBody ? 'INVALID_INPUT' : 'INVALID_REQUEST',
      `the request${inBody ? ' body' : ''} is not valid`,
      errors.map(({ path, message }) => ({ field: path, message })),
    );
  }
  // A body with `__proto__` is refused by the parser with a plain SyntaxError of status 400.
  const code = frameworkCodes.get(error.code) ?? (error.statusCode === 400 ? 'MALFORMED_JSON' : undefined);
  if (code !== undefined) return new SandboxError(code, frameworkMessages[code]);
  return new SandboxError('INTERNAL_ERROR', 'the service failed unexpectedly');
}
