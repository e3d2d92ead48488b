import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDashboard } from '../../../src/dashboard/dashboard.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, { dashboard: createDashboard() });
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

const paths = [
  '/',
  '/docs/',
  '/docs/js/scalar.js',
  '/openapi.json',
  '/openapi-3.0.json',
  '/assets/vendor/preact.js',
];

test.each(paths)('%s comes with and without gzip, both with one tag', async (path) => {
  const plain = await api.app.inject({ url: path });
  const zipped = await api.app.inject({ url: path, headers: { 'accept-encoding': 'gzip' } });
  expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(zipped.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': plain.headers['content-type'],
    etag: plain.headers['etag'],
    vary: 'accept-encoding',
  });
  expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length);
});

test.each(paths)(
  '%s is not sent again to a client that has it, and HEAD sends its headers alone',
  async (path) => {
    const { headers, rawPayload } = await api.app.inject({ url: path });
    const again = await api.app.inject({ url: path, headers: { 'if-none-match': String(headers['etag']) } });
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
    const head = await api.app.inject({ method: 'HEAD', url: path });
    expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(rawPayload.length));
  },
);
