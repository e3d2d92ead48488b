import type { FastifyPluginAsync } from 'fastify';
import { serveAsset } from '../http/asset.ts';
import { readPageFiles } from './page-files.ts';

/**
 * The page may run, style and fetch only files of the daemon: nothing inline, nothing external, in no frame
 * but those of the configured origins.
 */
const policy = (frameAncestors: readonly string[]) => [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  "base-uri 'none'",
  "form-action 'none'",
];

const headers = (frameAncestors: readonly string[]) => ({
  'content-security-policy': policy(frameAncestors).join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
});

/**
 * The page at `/` and its files under `/assets/`. It needs no token and holds no data; it reads everything
 * from the API with its user's session. `frameAncestors` are origins whose pages may show it in a frame. All
 * files are read once, when the plugin is registered; registering fails if a library is missing.
 */
export function createDashboard(frameAncestors: readonly string[] = []): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      void reply.headers(headers(frameAncestors));
      // Of the two headers this one knows no origins.
      if (frameAncestors.length > 0) void reply.removeHeader('x-frame-options');
    });
    for (const asset of await readPageFiles()) serveAsset(app, asset);
  };
}
