import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const script = '/docs/js/scalar.js';
// Milliseconds that the export takes.
const longMs = 2_500;
const timing = { idleMs: 1_000, unreadMs: 1_000, heartbeatMs: 150, followMs: 20 };
let api: ApiFixture;
let url: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, { timing });
  await api.createAccount('one');
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  // Made and compressed with the first request.
  await api.app.inject(script);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/**
 * Asks on a connection of its own, whose answer is read only as `read` is called on it. The server has the
 * connection when it resolves. Asked several times at once, it answers one after the other.
 */
async function ask(path: string, times = 1): Promise<Socket> {
  const accepted = once(api.app.server, 'connection');
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  await Promise.all([once(socket, 'connect'), accepted]);
  const request = `GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operatorToken}\r\n\r\n`;
  socket.pause().write(request.repeat(times));
  return socket;
}

function openConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    api.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

test('an answer that is not taken ends its connection', async () => {
  const startedAt = performance.now();
  const sockets: Socket[] = [];
  for (let i = 0; i < 5; i += 1) sockets.push(await ask(script));
  await expect.poll(openConnections).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThan(timing.idleMs);
  for (const socket of sockets) socket.destroy();
});

test('an event stream that is not taken ends', async () => {
  await api.putFilings(
    'one',
    Array.from({ length: 100 }, (_, i) => ({
      id: `f_${i}`,
      status: 'PAID',
      type: 'filing.created',
      document: { notes: 'x'.repeat(100_000) },
    })),
  );
  const startedAt = performance.now();
  const socket = await ask('/v1/accounts/one/events/stream?from=earliest');
  await expect.poll(openConnections).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThan(timing.idleMs);
  socket.destroy();
});

test('an export may take as long as it does, at a pace', async () => {
  const filings = Array.from({ length: 20_000 }, (_, i) => ({
    id: `f_${i}_${'x'.repeat(200)}`,
    status: 'UNPAID',
  }));
  for (let from = 0; from < filings.length; from += 1_000)
    await api.putFilings('one', filings.slice(from, from + 1_000));
  const answer = await fetch(`${url}/v1/accounts/one/filings`, {
    headers: { accept: 'text/csv', authorization: `Bearer ${operatorToken}` },
  });
  const startedAt = performance.now();
  let lines = 0;
  for await (const piece of answer.body ?? []) {
    lines += Buffer.from(piece).toString().split('\n').length - 1;
    const due = startedAt + lines / ((20_000 / longMs) * 0.6);
    await sleep(Math.max(0, due - performance.now()));
  }
  expect(lines).toBeGreaterThan(20_000);
  expect(performance.now() - startedAt).toBeGreaterThan(longMs);
});
