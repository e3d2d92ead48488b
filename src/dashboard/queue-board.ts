import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { pageHeaders } from './page-headers.ts';

/** A BullMQ queue, of which the page only reads. */
export type BoardQueue = ConstructorParameters<typeof BullMQAdapter>[0];

/**
 * Bull Board over `queues`, for reading alone: a plugin with the page and what it asks, all of it by GET, to
 * be registered behind a sign-in. The libraries are loaded by the first request, for they take several MiB
 * that most processes never need.
 */
export function createQueueBoard(queues: readonly BoardQueue[]): FastifyPluginAsync {
  let loaded: Promise<FastifyInstance> | null = null;
  return async (app) => {
    const headers = pageHeaders('self');
    app.get('/*', { schema: { hide: true } }, async (request, reply) => {
      loaded ??= loadBoard(queues);
      const url = request.url.slice(app.prefix.length);
      const answer = await (await loaded).inject({ method: 'GET', url });
      const type = answer.headers['content-type'];
      void reply.code(answer.statusCode).headers({ ...headers, 'content-type': type });
      return isHtml(type) ? adaptPage(answer.body, url) : answer.rawPayload;
    });
  };
}

// An instance that listens nowhere, since routes cannot be added to one that does.
async function loadBoard(queues: readonly BoardQueue[]): Promise<FastifyInstance> {
  const [{ createBullBoard }, { BullMQAdapter: Adapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ]);
  const serverAdapter = new FastifyAdapter();
  createBullBoard({
    queues: queues.map((queue) => new Adapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        miscLinks: [{ text: 'Dashboard', url: '../' }],
        hideDocsLink: true,
        // Its icon brings a style of its own, which the policy forbids.
        hideRedisDetails: true,
      },
    },
  });
  const board = fastify();
  await board.register(serverAdapter.registerPlugin());
  await board.ready();
  return board;
}

function isHtml(type: unknown): boolean {
  return String(type).startsWith('text/html');
}

// What the page's policy forbids, and what it would do without behind a proxy that cuts off a path.
const changes: readonly (readonly [found: RegExp, instead: (base: string) => string])[] = [
  [
    /<base href="[^"]*" \/>/,
    (base) => `<base href="${base}" /><script src="../assets/queue-board.js"></script>`,
  ],
  [/<link href="https:[^>]*>/, () => ''],
  [/<div id="root">.*?<\/style>\s*<\/div>/s, () => '<div id="root"></div>'],
];

/**
 * The library's page without what is inline or comes from elsewhere; `path` is below that of the board.
 * Throws when it no longer looks as it did.
 */
function adaptPage(html: string, path: string): string {
  const depth = (path.split('?', 1)[0] ?? '').split('/').length - 2;
  const base = depth === 0 ? './' : '../'.repeat(depth);
  return changes.reduce((page, [found, instead]) => {
    if (!found.test(page)) throw new Error(`the page of the queues has changed: no ${found.source}`);
    return page.replace(found, () => instead(base));
  }, html);
}
