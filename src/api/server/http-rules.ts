import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Api } from '../deps.ts';
import { Problem, problemBody, problemType } from '../shared/problem.ts';

/** Throws unless a request names exactly one host (RFC 9112 §3.2); a request of HTTP/1.0 may name none. */
export function refuseWithoutHost({ httpVersion, rawHeaders }: IncomingMessage): void {
  const names = rawHeaders.filter((_, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length;
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  throw new Problem('malformed_request', 'Send exactly one Host header.');
}

/**
 * Answers a request whose `Expect` is not `100-continue` (RFC 9110 §10.1.1), and closes its connection,
 * because the body may be on the way.
 */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const problem = new Problem(
    'expectation_failed',
    'Only "Expect: 100-continue" is supported; leave the header out.',
  );
  response.writeHead(problem.statusCode, { 'content-type': problemType, connection: 'close' });
  response.end(JSON.stringify(problemBody(problem)));
}

/** Methods by path, in the order of the routes; paths have their parameters as Fastify writes them. */
export type RouteTable = ReadonlyMap<string, ReadonlySet<string>>;

/** Records every route that is added to `app` or a scope of it from now on. */
export function recordRoutes(app: Api): RouteTable {
  const routes = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.refusesMethod === true) return;
    const methods = routes.get(url) ?? new Set();
    routes.set(url, methods);
    for (const one of [method].flat()) methods.add(one);
  });
  return routes;
}

/**
 * Answers 405 with `Allow` (RFC 9110 §15.5.6) to methods that the paths under `prefix` do not have. The
 * routes get the hooks of `scope`, so a path that needs a token needs it for this response too.
 */
export function refuseOtherMethods(scope: Api, routes: RouteTable, prefix: string): void {
  const paths = [...routes].filter(([path]) => path.startsWith(`${prefix}/`));
  for (const [path, allowed] of paths) {
    const refused = scope.supportedMethods.filter((method) => !allowed.has(method));
    const problem = new Problem(
      'method_not_allowed',
      `This path allows ${[...allowed].toSorted().join(', ')}.`,
      { headers: { allow: [...allowed].toSorted().join(', ') } },
    );
    const refuse = () => Promise.reject(problem);
    scope.route({
      method: refused,
      url: path.slice(prefix.length),
      config: { refusesMethod: true, accountMayBeNew: true },
      schema: { hide: true },
      onRequest: refuse,
      handler: refuse,
    });
  }
}
