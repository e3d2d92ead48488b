import type { FastifyPluginAsync } from 'fastify';
import { serveAsset } from '../http/asset.ts';
import { catalogueFile } from './catalogue-file.ts';
import { readPageFiles } from './page-files.ts';
import { readVendorFiles } from './vendor-files.ts';

/**
 * The page may run, style and fetch only files of the daemon: nothing inline, nothing external, in no frame.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];

const headers = {
  'content-security-policy': policy.join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};

/**
 * The operators' page at `/` and its files under `/assets/`. It needs no token and holds no data; it reads
 * everything from the API with its user's token. All files are read once, when the plugin is registered;
 * registering fails if a library is missing.
 */
export function createDashboard(): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      void reply.headers(headers);
    });
    const assets = await Promise.all([catalogueFile(), readPageFiles(), readVendorFiles()]);
    for (const asset of assets.flat()) serveAsset(app, asset);
  };
}
