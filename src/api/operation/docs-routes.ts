import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createLateAsset, serveAsset } from '../../http/asset.ts';
import type { Api } from '../deps.ts';
import { toOpenApi30, type ApiDocument } from '../document/finish-document.ts';

/** The page that shows the API, and its script. */
interface ReferenceFiles {
  readonly page: string;
  readonly script: Uint8Array;
}

/**
 * The OpenAPI documents and the page that shows the API. The page loads nothing from elsewhere. With `early`
 * all is made before the API is ready, because the first request of a stranger would hold the event loop;
 * without it, with the first request.
 */
export async function addDocsRoutes(app: Api, early: boolean): Promise<void> {
  const document = createLateAsset('/openapi.json', () => json(app.swagger()));
  const older = createLateAsset('/openapi-3.0.json', () => json(toOpenApi30(app.swagger() as ApiDocument)));
  let reading: Promise<ReferenceFiles> | null = null;
  async function files(): Promise<ReferenceFiles> {
    try {
      return await (reading ??= readReference());
    } catch (error) {
      reading = null;
      throw error;
    }
  }
  const page = createLateAsset('/docs/', async () => {
    const { page: body } = await files();
    return {
      type: 'text/html; charset=utf-8',
      body,
      headers: { 'content-security-policy': policyOf(body) },
    };
  });
  const script = createLateAsset('/docs/js/scalar.js', async () => ({
    type: 'text/javascript; charset=utf-8',
    body: (await files()).script,
  }));
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 301));
  const assets = [document, older, page, script];
  for (const asset of assets) serveAsset(app, asset);
  if (early) app.addHook('onReady', async () => void (await Promise.all(assets.map(({ read }) => read()))));
}

function json(document: object) {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(document) };
}

// Once for both files. The library takes 50 MB and a tenth of a second: in a thread of its own, which ends.
function readReference(): Promise<ReferenceFiles> {
  const file = `reference-worker${extname(import.meta.filename)}`;
  const worker = new Worker(new URL(file, import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<ReferenceFiles>();
  worker.once('message', resolve);
  worker.once('error', reject);
  return promise;
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
