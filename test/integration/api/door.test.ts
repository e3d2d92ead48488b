import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../../src/api/api.ts';
import type { Api, ApiDeps } from '../../../src/api/deps.ts';
import { openDoor } from '../../../src/api/server/door.ts';
import { createLatch } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
let fixture: Awaited<ReturnType<typeof createApiFixture>>;

beforeAll(async () => {
  fixture = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await fixture.app.close();
  await redis.cleanup();
});

const notYet: RequestListener = (_request, response) => void response.writeHead(503).end();

async function open(port: number, request: string) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  return socket;
}

async function listen(overrides: Partial<ApiDeps> = {}): Promise<{ app: Api; port: number }> {
  const door = await openDoor('127.0.0.1', 0, notYet);
  const app = await createApi({ ...fixture.deps, ...overrides, door });
  await door.handOver(app);
  return { app, port: Number(new URL(door.url).port) };
}

test('closing the API ends idle connections at once, and answers are finished', async () => {
  const asked = createLatch();
  const answer = createLatch();
  const { app, port } = await listen({
    async readiness() {
      asked.open();
      await answer.opened;
      return { ready: true, reasons: [] };
    },
  });
  const idle = await Promise.all([1, 2].map(() => open(port, '')));
  const busy = await open(port, 'GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n');
  await asked.opened;
  const closed = app.close();
  await Promise.all(idle.map((socket) => once(socket, 'close')));
  answer.open();
  expect(await text(busy)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  await closed;
});

test('an address that cannot be listened at is an error', async () => {
  await expect(openDoor('192.0.2.1', 0, notYet)).rejects.toThrow('EADDRNOTAVAIL');
});

test('a connection that was opened before the API has the door is answered by both, and ends with the API', async () => {
  const door = await openDoor('127.0.0.1', 0, notYet);
  const port = Number(new URL(door.url).port);
  const request = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
  const half = await open(port, 'GET / HTTP/1.1\r\nhost');
  const sockets = await Promise.all([1, 2].map(() => open(port, request)));
  const first = await Promise.all(sockets.map(async (socket) => String(await once(socket, 'data'))));
  expect(first).toEqual([1, 2].map(() => expect.stringMatching(/^HTTP\/1.1 503 /)));
  const app = await createApi({ ...fixture.deps, door });
  await door.handOver(app);
  for (const socket of sockets) socket.write(request);
  const second = await Promise.all(sockets.map(async (socket) => String(await once(socket, 'data'))));
  expect(second).toEqual([1, 2].map(() => expect.stringMatching(/^HTTP\/1.1 200 OK/)));
  await Promise.all([app.close(), ...sockets.map((socket) => once(socket, 'close'))]);
  expect(await text(half)).toBe('');
});

test('a door without an app closes at once, whatever is connected to it', async () => {
  const door = await openDoor('127.0.0.1', 0, notYet);
  const port = Number(new URL(door.url).port);
  const sockets = await Promise.all([1, 2].map(() => open(port, '')));
  await expect.poll(() => door.connections.size).toBe(2);
  await Promise.all([door.close(), ...sockets.map((socket) => once(socket, 'close'))]);
  await expect(fetch(door.url)).rejects.toThrow('fetch failed');
});
