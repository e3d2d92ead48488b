import { SandboxError } from '../errors.ts';
import type { SandboxApp } from '../sandbox-app.ts';

const knownMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/**
 * Records the routes of a scope from here on. The returned function adds, for each path, a response 405 with
 * `Allow` (RFC 9110 §15.5.6) to all methods that the path does not have. Call it after the last route of the
 * scope.
 */
export function watchMethods(app: SandboxApp): () => void {
  const methodsByPath = new Map<string, Set<string>>();
  let watching = true;
  app.addHook('onRoute', ({ routePath: path, method }) => {
    if (!watching) return;
    const methods = methodsByPath.get(path) ?? new Set();
    methodsByPath.set(path, methods);
    for (const one of [method].flat()) methods.add(one);
  });
  return () => {
    watching = false;
    for (const [path, methods] of methodsByPath) refuseOtherMethods(app, path, methods);
  };
}

function refuseOtherMethods(app: SandboxApp, path: string, allowed: ReadonlySet<string>): void {
  const refused = knownMethods.filter((method) => !allowed.has(method));
  app.route({
    method: refused,
    url: path,
    handler: async (request, reply) => {
      reply.header('allow', [...allowed].toSorted().join(', '));
      throw new SandboxError('METHOD_NOT_ALLOWED', `this path does not take ${request.method}`);
    },
  });
}
