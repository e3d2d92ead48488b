import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
import { createAsset, createLateAsset, serveAsset } from '../../http/asset.ts';
import type { Api } from '../deps.ts';

/**
 * The OpenAPI document and the page that shows it. The page loads nothing from elsewhere. With `early` all is
 * made before the API is ready, because the first request of a stranger would hold the event loop; without
 * it, with the first request.
 */
export async function addDocsRoutes(app: Api, early: boolean): Promise<void> {
  const document = createLateAsset('/openapi.json', () => ({
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(app.swagger()),
  }));
  const reference = createAsset('/docs/', 'text/html; charset=utf-8', page, {
    'content-security-policy': pagePolicy,
  });
  const script = createLateAsset('/docs/js/scalar.js', async () => ({
    type: 'text/javascript; charset=utf-8',
    body: await readScript(),
  }));
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 301));
  const assets = [document, reference, script];
  for (const asset of assets) serveAsset(app, asset);
  if (early) app.addHook('onReady', async () => void (await Promise.all(assets.map(({ read }) => read()))));
}

const require = createRequire(import.meta.url);

const configuration = {
  url: '../openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};
const start = `Scalar.createApiReference('#app', ${JSON.stringify(configuration)})`;
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>filing-webhooks API</title>
  </head>
  <body>
    <div id="app"></div>
    <script src="js/scalar.js"></script>
    <script>${start}</script>
  </body>
</html>
`;

// The page starts with one inline script, allowed by its hash, and has inline styles.
const pagePolicy = [
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

const [before, after] = ['\nvar standalone_default = ', ';\n//#endregion'];

// The library holds the script as one literal of four megabytes. Importing all of it holds the event loop
// for a tenth of a second.
async function readScript(): Promise<string> {
  const text = await readFile(require.resolve('@scalar/fastify-api-reference'), 'utf8');
  const from = text.indexOf(before) + before.length;
  const literal = text.slice(from, text.indexOf(after, from));
  if (!literal.startsWith('"')) throw new Error('the library of the reference has changed: it has no script');
  return runInThisContext(literal) as string;
}
