import type { FastifyPluginAsync } from 'fastify';
import { serveAsset } from './asset.ts';
import { eventTypesFile } from './event-types-file.ts';
import { readPageFiles } from './page-files.ts';
import { pageHeaders } from './page-headers.ts';
import { readVendorFiles } from './vendor-files.ts';

/**
 * The operators' page at `/` and its files under `/assets/`. It needs no token, holds no data and asks the
 * API for everything with the token that its user signs in with. All files are read once, when the plugin is
 * registered; registering fails where a library is missing.
 */
export function createDashboard(): FastifyPluginAsync {
  const headers = pageHeaders('none');
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      void reply.headers(headers);
    });
    const assets = await Promise.all([eventTypesFile(), readPageFiles(), readVendorFiles()]);
    for (const asset of assets.flat()) serveAsset(app, asset);
  };
}
