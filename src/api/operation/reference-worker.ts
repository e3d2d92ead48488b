// The thread that `readReference` starts: it posts the two files of the page, then ends.
import { parentPort } from 'node:worker_threads';
import { fastify } from 'fastify';
import reference from '@scalar/fastify-api-reference';

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

// The plugin is asked for its files, because its routes neither compress nor have tags.
await using app = fastify();
await app.register(reference, { routePrefix: '/docs', configuration });
const [page, script] = await Promise.all([app.inject('/docs/'), app.inject('/docs/js/scalar.js')]);
// That rule is about windows.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage({ page: page.body, script: script.rawPayload });
