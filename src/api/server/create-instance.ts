import { isUtf8 } from 'node:buffer';
import type { RequestListener } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { fastify, LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Api, ApiDeps } from '../deps.ts';
import { callerLabel, callerOf } from '../access/auth.ts';
import { createBoundedServer } from './bounded-server.ts';
import { careForConnections } from './connections.ts';
import { answerBrokenConnection, refuseWithoutRoute, sendError } from './error-handler.ts';
import { refuseWithoutHost } from './http-rules.ts';
import { compileValidator } from './validator.ts';
import { weightOf } from '../../json/nesting.ts';
import { invalidValue, Problem } from '../shared/problem.ts';

const bodyBytesMax = 256 * 1024;
// Maximum number of values in a body. The largest body that a schema allows has fewer than two hundred. Tens
// of thousands of small values take seconds to check.
const bodyValuesMax = 1_000;
// Maximum depth of a body; the check against a schema recurses.
const nestingMax = 20;
// Milliseconds for a response, counted from the first byte of the request; the request itself has `requestMs`
// (`ApiTiming`).
const handlerMs = 20_000;

// Maximum length of a path parameter: a filing's id has up to 256 characters, each up to twelve in a path
// ("%F0%9F%98%80").
const paramLengthMax = 256 * 12;

/** The dependencies of every instance. */
export type InstanceDeps = Pick<ApiDeps, 'logger' | 'timing' | 'limits' | 'trustedProxies' | 'door'>;

/** A Fastify instance with the limits, the error handling and the request log of the API, and no routes. */
export function createInstance(deps: InstanceDeps): Api {
  const { logger, timing = {}, trustedProxies = [] } = deps;
  const door = deps.door ?? createBoundedServer(timing);
  const loggerInstance: FastifyBaseLogger | undefined = logger;
  const app = fastify({
    ...(loggerInstance === undefined ? { logger: false } : { loggerInstance }),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: bodyBytesMax,
    handlerTimeout: handlerMs,
    // A plugin takes long only if the process is busy, with a backlog for example. Failing the start for that
    // would only repeat it, no faster.
    pluginTimeout: 0,
    serverFactory: (handler: RequestListener) => door.enter(handler),
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    return503OnClosing: false,
    routerOptions: { maxParamLength: paramLengthMax },
    // Not by `setValidatorCompiler`: a scope to which a schema is added later would have Fastify's own.
    schemaController: {
      compilersFactory: {
        // Typed for Ajv, whose schemas may be booleans; those of routes are objects.
        buildValidator: () => compileValidator as never,
        // Responses are built field by field; their schemas are the documentation, and a test compares the
        // two.
        buildSerializer: () => () => JSON.stringify,
      },
    },
    frameworkErrors: sendError,
    clientErrorHandler: answerBrokenConnection,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(() => undefined); // hooks do not run without one
  app.addHook('preParsing', refuseWithoutRoute);
  app.addHook('onRequest', async ({ raw }) => refuseWithoutHost(raw));
  acceptOnlyJson(app);
  app.decorateRequest('caller', null); // `addAuth` stores the caller there
  logRequests(app);
  careForConnections(app, door.connections, deps);
  return app;
}

function acceptOnlyJson(app: Api): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const body = bytes.toString();
    const refusal = whyRefused(request, bytes as Buffer);
    // Many clients declare JSON on a POST or DELETE without a body.
    if (refusal !== null || body === '') done(refusal, undefined);
    else
      void parseJson(request, body, (error, value) => {
        done(error === null ? whyTooLarge(value) : malformedJson(body), value);
      });
  });
}

// The problem of a body that the parser refused. Node's message shows a few characters around the fault; it
// goes to the client alone.
function malformedJson(text: string): Problem {
  try {
    JSON.parse(text);
  } catch (error) {
    const { message } = error as SyntaxError;
    return new Problem('malformed_json', `The body is not JSON: ${message.toWellFormed()}.`);
  }
  return new Problem('malformed_json', forbiddenName);
}

// The parser refuses JSON for these two alone.
const forbiddenName =
  'The body has a field that no body may have: __proto__, or constructor with a field prototype. Leave it out.';

// JSON between systems is UTF-8 (RFC 8259, section 8.1); other bytes would be stored as other text.
const utf8Names = new Set(['utf-8', 'utf8', 'us-ascii']);

function whyRefused({ headers }: FastifyRequest, bytes: Buffer): Problem | null {
  if (headers['content-encoding'] !== undefined)
    return new Problem('unsupported_media_type', 'Send the body as it is, without Content-Encoding.');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !utf8Names.has(charset.toLowerCase()))
    return new Problem('unsupported_media_type', 'Send the body in UTF-8, the encoding of JSON.');
  if (!isUtf8(bytes))
    return new Problem('malformed_json', 'The body is not UTF-8, the encoding of JSON. Send it in UTF-8.');
  return null;
}

function whyTooLarge(body: unknown): Problem | null {
  const weight = weightOf(body, nestingMax);
  if (weight === Infinity)
    return invalidValue('', `The body must not be nested deeper than ${nestingMax} levels`);
  return weight > bodyValuesMax
    ? invalidValue('', `The body must not hold more than ${bodyValuesMax} values`)
    : null;
}

// Logs one line per request. Probes, scrapes and the reads of an open page are frequent and matter only when
// they fail.
function logRequests(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const { url = 'none' } = request.routeOptions;
    const line = {
      method: request.method,
      route: url,
      account: (request.params as { account?: string } | undefined)?.account,
      caller: callerLabel(request),
      session: callerOf(request)?.session?.id,
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
    };
    const isProbe = (url.startsWith('/health/') || url === '/metrics') && line.status < 500;
    const isOfPage = line.session !== undefined && line.method === 'GET' && line.status < 400;
    if (isProbe || isOfPage) request.log.debug(line, 'http.request');
    else request.log.info(line, 'http.request');
  });
}
