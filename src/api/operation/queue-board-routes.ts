import type { FastifyPluginAsync } from 'fastify';
import type { Api } from '../server/api-instance.ts';
import { addAuth } from '../access/auth.ts';
import type { ApiDeps } from '../deps.ts';
import { refuseOtherMethods } from '../server/method-not-allowed.ts';
import type { RouteTable } from '../server/method-not-allowed.ts';
import { createPageSessions } from '../access/page-session.ts';

const prefix = '/queues';
const hidden = { schema: { hide: true } } as const;

/**
 * The page of the queues, for the operator alone, as is everything that names no account. A browser signs in
 * by posting the operator's token to `/queues/session`, for which it gets a cookie: opening a page sends no
 * `Authorization`.
 */
export async function addQueueBoardRoutes(
  app: Api,
  deps: Pick<ApiDeps, 'apiToken' | 'tokens' | 'accounts' | 'now' | 'limits' | 'storeProblem'>,
  board: FastifyPluginAsync,
  routes: RouteTable,
): Promise<void> {
  const sessions = createPageSessions(deps.apiToken, deps.now);
  await app.register(
    async (scope) => {
      scope.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
      addAuth(scope, deps, (request) => sessions.isValid(request.headers.cookie));
      scope.get('', hidden, async (_request, reply) => reply.redirect('queues/', 301));
      scope.post('/session', hidden, async ({ headers }, reply) => {
        // Browsers tell it with every POST (Fetch standard, "Origin" header), whatever proxy is in between.
        const secure = headers.origin?.startsWith('https:') === true;
        return reply.code(204).header('set-cookie', sessions.begin(secure)).send();
      });
      scope.delete('/session', hidden, async (_request, reply) =>
        reply.code(204).header('set-cookie', sessions.end).send(),
      );
      await scope.register(board);
      refuseOtherMethods(scope, routes, prefix);
    },
    { prefix },
  );
}
