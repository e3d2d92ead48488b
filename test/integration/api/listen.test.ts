import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../../src/api/api.ts';
import type { Api } from '../../../src/api/api-instance.ts';
import type { ApiDeps } from '../../../src/api/deps.ts';
import { createListen } from '../../../src/api/listen.ts';
import { createLatch } from '../../support/receiver.ts';
import { testRedis } from '../../support/redis.ts';
import { createApiFixture } from './api-fixture.ts';

const addresses = ['127.0.0.1', '127.0.0.2'];
const redis = testRedis();
let fixture: Awaited<ReturnType<typeof createApiFixture>>;

beforeAll(async () => {
  fixture = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await fixture.app.close();
  await redis.cleanup();
});

async function open(host: string, port: number, request: string) {
  const socket = connect(port, host);
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

async function listenAtTwo(overrides: Partial<ApiDeps> = {}): Promise<{ app: Api; port: number }> {
  const app = await createApi({ ...fixture.deps, ...overrides });
  const url = await createListen(app)(addresses, 0);
  return { app, port: Number(new URL(url).port) };
}

test('the API answers at every address alike, also what is no request', async () => {
  const { app, port } = await listenAtTwo();
  const broken = addresses.map(async (host) => text(await open(host, port, 'NONSENSE\r\n\r\n')));
  const [first = '', second] = await Promise.all(broken);
  expect(first).toContain('application/problem+json');
  expect(second).toBe(first);
  await app.close();
});

test('closing the API ends idle connections at every address at once, and answers are finished', async () => {
  const asked = createLatch();
  const answer = createLatch();
  const { app, port } = await listenAtTwo({
    async readiness() {
      asked.open();
      await answer.opened;
      return { ready: true, reasons: [] };
    },
  });
  const idle = await Promise.all(addresses.map((host) => open(host, port, '')));
  const busy = await open('127.0.0.2', port, 'GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n');
  await asked.opened;
  const closed = app.close();
  await Promise.all(idle.map((socket) => once(socket, 'close')));
  answer.open();
  expect(await text(busy)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  await closed;
});

test('an address that cannot be listened at is left out, unless it is the first', async () => {
  const app = await createApi(fixture.deps);
  const url = await createListen(app)(['127.0.0.1', '192.0.2.1'], 0);
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  await app.close();
  const other = await createApi(fixture.deps);
  await expect(createListen(other)(['192.0.2.1', '127.0.0.1'], 0)).rejects.toThrow('EADDRNOTAVAIL');
});
