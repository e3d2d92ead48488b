import type { Api } from './api-instance.ts';
import { Problem } from '../shared/problem.ts';

/** Methods by path, as routes were added; paths with their parameters as Fastify writes them. */
export type RouteTable = ReadonlyMap<string, ReadonlySet<string>>;

/** Notes every route that is added to `app` or a scope of it from now on. */
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
 * Answers 405 with `Allow` (RFC 9110 §15.5.6) to the methods that the paths under `prefix` do not have. The
 * routes get the hooks of `scope`: where a token is needed, it is needed for this as well.
 */
export function refuseOtherMethods(scope: Api, routes: RouteTable, prefix: string): void {
  const paths = [...routes].filter(([path]) => path.startsWith(`${prefix}/`));
  for (const [path, allowed] of paths) {
    const refused = scope.supportedMethods.filter((method) => !allowed.has(method));
    const problem = new Problem(
      'method_not_allowed',
      `This path takes ${[...allowed].toSorted().join(', ')}.`,
      {
        headers: { allow: [...allowed].toSorted().join(', ') },
      },
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
