import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import type { Api } from '../../src/api/deps.ts';
import { openDoor } from '../../src/api/server/door.ts';
import { createDashboard } from '../../src/dashboard/dashboard.ts';
import { createApiFixture, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
let fixture: ApiFixture;
let app: Api;
let url: string;

beforeAll(async () => {
  fixture = await createApiFixture(redis.connect(), redis.prefix);
  const door = await openDoor('127.0.0.1', 0, (_request, response) => void response.end());
  app = await createApi({ ...fixture.deps, door, dashboard: createDashboard() });
  await door.handOver(app);
  ({ url } = door);
  await fetch(`${url}/health/live`);
});

afterAll(async () => {
  await app.close();
  await fixture.app.close();
  await redis.cleanup();
});

test.each([
  '/docs/',
  '/docs/js/scalar.js',
  '/openapi.json',
  '/openapi-3.0.json',
  '/',
  '/assets/main.js',
  '/metrics',
])('the first request for %s takes less than 50 ms of processor time', async (path) => {
  const before = process.threadCpuUsage();
  expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(50);
});
