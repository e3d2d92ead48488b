import { createHash } from 'node:crypto';
import { fastify } from 'fastify';
import type { FastifyInstance } from 'fastify';
import { createLateAsset, serveAsset } from '../../http/asset.ts';
import type { Content } from '../../http/asset.ts';
import type { Api } from '../server/api-instance.ts';

const page = '/docs/';
const script = '/docs/js/scalar.js';

/**
 * The OpenAPI document and the page that shows it. The page loads nothing from elsewhere. Each is made once,
 * with its first request.
 */
export async function addDocsRoutes(app: Api): Promise<void> {
  const document = createLateAsset('/openapi.json', () => ({
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(app.swagger()),
  }));
  const reference = createReference();
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => reply.redirect('docs/', 301));
  for (const asset of [document, ...reference]) serveAsset(app, asset);
}

// The library answers each request anew, with four megabytes of script; here it is asked once for each path.
function createReference() {
  let library: Promise<FastifyInstance> | null = null;
  async function content(path: string): Promise<Content> {
    library ??= loadLibrary();
    const { rawPayload, headers } = await (await library).inject(path);
    return { type: String(headers['content-type']), body: rawPayload };
  }
  return [
    createLateAsset(page, async () => {
      const made = await content(page);
      return { ...made, headers: { 'content-security-policy': pagePolicy(String(made.body)) } };
    }),
    createLateAsset(script, () => content(script)),
  ];
}

async function loadLibrary(): Promise<FastifyInstance> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const library = fastify();
  await library.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: '../openapi.json',
      pageTitle: 'filing-webhooks API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  return library;
}

// The page starts with one inline script, allowed by its hash, and has inline styles.
function pagePolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => text,
  );
  const hashes = inline.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');
}
