import { createApi } from '../../../src/api/api.ts';
import type { ApiDeps } from '../../../src/api/deps.ts';
import type { ApiDocument } from '../../../src/api/document/finish-document.ts';

// Answers every question with itself: no route is called, and only its description is read.
const inert: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === 'then' ? undefined : inert),
  apply: () => inert,
});

const left = new Set([
  'logger',
  'dashboard',
  'timing',
  'limits',
  'trustedProxies',
  'door',
  'beforeScrape',
  'publicUrl',
]);

/** The OpenAPI document, without a Redis. */
export async function writeDocument(): Promise<ApiDocument> {
  const known: Record<string, unknown> = { version: '0.0.0', apiToken: 'x'.repeat(24) };
  const deps = new Proxy(
    {},
    { get: (_target, name) => known[String(name)] ?? (left.has(String(name)) ? undefined : inert) },
  ) as ApiDeps;
  const app = await createApi(deps);
  try {
    await app.ready();
    return JSON.parse(JSON.stringify(app.swagger())) as ApiDocument;
  } finally {
    await app.close();
  }
}
