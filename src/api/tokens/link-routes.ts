import type { Api } from '../server/api-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { createLink } from './link-schema.ts';
import { makerOf, orRefusal } from './routes.ts';

/** Links that open the page for one account. */
export function addLinkRoutes(app: Api, { tokens, now, publicUrl = null }: ApiDeps): void {
  app.post(
    '/accounts/:account/links',
    { config: { dear: 'scans' }, schema: createLink },
    async (request, reply) => {
      const { account } = request.params;
      const { expiresInMs, readOnly = true, name = 'link' } = request.body;
      const maker = makerOf(request);
      const expiresAt = Math.min(now() + expiresInMs, maker?.expiresAt ?? Infinity);
      const settings = { name, readOnly, expiresAt, parent: maker?.id ?? null, link: true };
      const { token, text } = orRefusal(await tokens.create(account, settings, now()));
      const page = publicUrl ?? `${request.protocol}://${request.host}`;
      void reply.code(201);
      return {
        id: token.id,
        url: `${page}/#/link/${text}`,
        readOnly,
        expiresAt: new Date(expiresAt).toISOString(),
      };
    },
  );
}
