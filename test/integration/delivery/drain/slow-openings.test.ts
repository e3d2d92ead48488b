import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestAuthority, tlsFrom, type TestAuthority } from '../../../support/receivers/certificates.ts';
import { mostPerSecond } from '../../../support/receivers/timed-receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
let authority: TestAuthority;

beforeAll(async () => {
  authority = await createTestAuthority();
});

afterAll(async () => {
  await authority[Symbol.asyncDispose]();
  await redis.cleanup();
});

const soon = { timeout: 10_000, interval: 10 };

/**
 * An https receiver that ends each connection with its answer, and lets each next connection wait so many
 * milliseconds for its handshake. `times` are those at which callbacks arrived.
 */
async function slowToOpen(waits: readonly number[]) {
  const times: number[] = [];
  const server = createHttpsServer(await authority.issue('endpoint'), (request, response) => {
    times.push(performance.now());
    request.resume();
    response.writeHead(200, { connection: 'close' }).end();
  });
  let opened = 0;
  const door = createServer({ pauseOnConnect: true }, (socket) => {
    const waitMs = waits[opened] ?? 0;
    opened += 1;
    void delay(waitMs).then(() => server.emit('connection', socket));
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const settings = { tls: tlsFrom({ ca: authority.cert }) };
  return {
    url: `https://127.0.0.1:${(door.address() as AddressInfo).port}/`,
    settings,
    times,
    async [Symbol.asyncDispose]() {
      door.close();
      await once(door, 'close');
    },
  };
}

describe('a rate, where connections take long to open,', () => {
  test('holds in any second at the receiver', async () => {
    await using receiver = await slowToOpen([700, 0, 500, 0, 0, 600, 0, 0, 400]);
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { ...receiver.settings, rate: 4 });
    await harness.append(...Array.from({ length: 12 }, (_, i) => `f${i}`));
    harness.startWorker();
    await harness.queue.wake(harness.account, [id]);
    await vi.waitFor(() => expect(receiver.times).toHaveLength(12), soon);
    expect(mostPerSecond(receiver.times)).toBeLessThanOrEqual(4);
  });

  test('holds from one drain to the next', async () => {
    await using receiver = await slowToOpen([900]);
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url, { ...receiver.settings, rate: 1 });
    await harness.append('a');
    await harness.drain(id);
    await harness.append('b');
    harness.startWorker();
    await harness.queue.wake(harness.account, [id]);
    await vi.waitFor(() => expect(receiver.times).toHaveLength(2), soon);
    expect(mostPerSecond(receiver.times)).toBe(1);
  });

  test('is used up by one that opens while others arrive, and by no more', async () => {
    await using receiver = await slowToOpen([5_000]);
    await using harness = await createHarness(redis, { timeoutMs: 20_000 });
    const id = await harness.subscribe(receiver.url, { ...receiver.settings, rate: 4 });
    await harness.append(...Array.from({ length: 8 }, (_, i) => `f${i}`));
    const startedAt = performance.now();
    harness.startWorker();
    await harness.queue.wake(harness.account, [id]);
    await vi.waitFor(() => expect(receiver.times).toHaveLength(7), soon);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(mostPerSecond(receiver.times)).toBeLessThanOrEqual(3);
  });
});
