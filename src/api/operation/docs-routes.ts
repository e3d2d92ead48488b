import { createHash } from 'node:crypto';
import { fastify } from 'fastify';
import { createLateAsset, serveAsset } from '../../http/asset.ts';
import type { Api } from '../deps.ts';
import type { ApiDocument } from '../document/finish-document.ts';
import { toOpenApi30 } from '../document/older-document.ts';

/**
 * The OpenAPI documents and the page that shows the API. The page loads nothing from elsewhere. With `early`
 * all is made before the API is ready, because the first request of a stranger would hold the event loop;
 * without it, with the first request.
 */
export async function addDocsRoutes(app: Api, early: boolean): Promise<void> {
  const document = createLateAsset('/openapi.json', () => json(app.swagger()));
  const older = createLateAsset('/openapi-3.0.json', () => json(toOpenApi30(app.swagger() as ApiDocument)));
  const page = createLateAsset('/docs/', async () => {
    const body = await readReference('/docs/');
    return {
      type: 'text/html; charset=utf-8',
      body,
      headers: { 'content-security-policy': policyOf(body) },
    };
  });
  const script = createLateAsset('/docs/js/scalar.js', async () => ({
    type: 'text/javascript; charset=utf-8',
    body: await readReference('/docs/js/scalar.js'),
  }));
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 301));
  const assets = [document, older, page, script];
  for (const asset of assets) serveAsset(app, asset);
  if (early) app.addHook('onReady', async () => void (await Promise.all(assets.map(({ read }) => read()))));
}

function json(document: object) {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(document) };
}

const configuration = {
  url: '../openapi.json',
  pageTitle: 'filing-webhooks API',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
} as const;

// The plugin is asked once for each path, because its routes neither compress nor have tags. Importing it
// takes a tenth of a second, so that is done where it is needed.
async function readReference(path: string): Promise<string> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  await using app = fastify();
  await app.register(reference, { routePrefix: '/docs', configuration });
  const { body } = await app.inject(path);
  return body;
}

// The page starts with one inline script, allowed by its hash, and has inline styles.
function policyOf(page: string): string {
  const [, start = ''] = /<script type="text\/javascript">([^<]*)</.exec(page) ?? [];
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(start).digest('base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');
}
