import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';

const max = 20;
const redis = testRedis();
let api: ApiFixture;
let port: number;
const sockets = new Set<Socket>();

beforeAll(async () => {
  const limits = { connections: max };
  api = await createApiFixture(redis.connect(), redis.prefix, { limits, timing: { requestMs: 60_000 } });
  await api.createAccount('one');
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await api.app.close();
  await redis.cleanup();
});

/** Opens a connection and sends the beginning of a request; resolves when the API has the connection. */
async function begin(bytes: string): Promise<Socket> {
  const accepted = once(api.app.server, 'connection');
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  socket.resume().write(bytes);
  await accepted;
  return socket;
}

const head = `POST /v1/accounts/one/poll HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operatorToken}\r\n`;
const dripping = {
  nothing: '',
  headers: 'GET / HTTP/1.1\r\nx-a: ',
  body: `${head}content-type: application/json\r\ncontent-length: 90\r\n\r\n{`,
};

/** Opens a connection of its own and returns the whole answer. */
async function ask(path: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  return text(socket);
}

test.each(Object.entries(dripping))(
  'connections without a whole request (%s) make way for clients with a request',
  async (_what, bytes) => {
    for (let opened = 0; opened < 2 * max; opened += 1) await begin(bytes);
    await expect.poll(() => sockets.size).toBeLessThanOrEqual(max);
    expect(await ask('/health/live')).toContain(' 200 ');
    expect(await ask('/health/ready')).toContain(' 200 ');
  },
);

test('the oldest of them is cut first', async () => {
  const first = await begin(dripping.headers);
  for (let opened = 1; opened < max; opened += 1) await begin(dripping.headers);
  expect(first.destroyed).toBe(false);
  const cut = once(first, 'close');
  await begin(dripping.headers);
  await cut;
  expect(sockets.size).toBeGreaterThanOrEqual(max - 1);
});

test('what is being answered stays: a stream outlives any number of connections', async () => {
  const stream = await fetch(`http://127.0.0.1:${port}/v1/accounts/one/events/stream`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const reader = stream.body?.getReader();
  await reader?.read();
  for (let opened = 0; opened < 2 * max; opened += 1) await begin(dripping.headers);
  await api.putFilings('one', [{ id: 'f_1', status: 'PAID', type: 'filing.created' }]);
  const heard = await untilHeard(reader, 'f_1');
  expect(heard).toContain('filing.created');
  await reader?.cancel();
});

test('streams take half of the connections at most, so that probes get through', async () => {
  const streams = await Promise.all(
    Array.from({ length: max }, async (_, i) => {
      const account = await api.createAccount(`many-${i}`);
      return fetch(`http://127.0.0.1:${port}${account}/events/stream`, {
        headers: { authorization: `Bearer ${operatorToken}` },
      });
    }),
  );
  const statuses = streams.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(max / 2);
  expect(statuses.filter((status) => status === 429)).toHaveLength(max / 2);
  expect(await ask('/health/live')).toContain(' 200 ');
  for (const { body } of streams) await body?.cancel();
});

async function untilHeard(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  word: string,
): Promise<string> {
  for (let heard = ''; ;) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    heard += Buffer.from(value ?? []).toString();
    if (done || heard.includes(word)) return heard;
  }
}
