import type { Socket } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { startRawReceiver } from '../support/receivers/raw-receiver.ts';
import { createLatch, startReceiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage, type ShownAttempt } from '../support/daemon/delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 50 };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const head = 'HTTP/1.1 200 OK\r\n';
const timeoutMs = 1_500;

function answerWith(text: string): (socket: Socket) => void {
  return (socket) => void socket.write(text);
}

// Until the other side has enough.
function pour(socket: Socket, chunk: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

// As a load balancer that has forgotten its idle connections.
function resetWhenReused(): (socket: Socket) => void {
  const used = new WeakSet<Socket>();
  return (socket) => {
    if (used.has(socket)) socket.resetAndDestroy();
    else socket.write(ok.replace('\r\n', '\r\nkeep-alive: timeout=20\r\n'));
    used.add(socket);
  };
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('.'), 100);
  socket.on('close', () => clearInterval(timer));
}

interface Behaviour {
  readonly answer: (socket: Socket) => void;
  readonly outcome: string;
}

const behaviours: Readonly<Record<string, Behaviour>> = {
  gone: { answer: answerWith('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'), outcome: 'gone' },
  endless_pause: {
    answer: answerWith('HTTP/1.1 429 Slow\r\nretry-after: 1e12\r\ncontent-length: 0\r\n\r\n'),
    outcome: 'slow_down',
  },
  pause_until: {
    answer: answerWith(
      'HTTP/1.1 503 Later\r\nretry-after: Fri, 31 Dec 2099 23:59:59 GMT\r\ncontent-length: 0\r\n\r\n',
    ),
    outcome: 'slow_down',
  },
  negative_pause: {
    answer: answerWith('HTTP/1.1 429 Slow\r\nretry-after: -5\r\ncontent-length: 0\r\n\r\n'),
    outcome: 'http_error',
  },
  late: {
    answer: (socket) => setTimeout(() => socket.write(ok), timeoutMs + 300),
    outcome: 'timeout',
  },
  closed_before: { answer: (socket) => socket.end(), outcome: 'connection_reset' },
  closed_within: { answer: (socket) => socket.end(`${head}content-le`), outcome: 'connection_reset' },
  closed_after: {
    answer: (socket) => socket.end(`${head}content-length: 9\r\n\r\nhalf`),
    outcome: 'delivered',
  },
  endless_body: {
    answer(socket) {
      socket.write(`${head}content-length: 1000000000\r\n\r\n`);
      pour(socket, 'x'.repeat(65_536));
    },
    outcome: 'delivered',
  },
  dripping_body: {
    answer(socket) {
      socket.write(`${head}content-length: 1000\r\n\r\n`);
      drip(socket);
    },
    outcome: 'delivered',
  },
  dripping_headers: {
    answer(socket) {
      socket.write(`${head}x-slow: `);
      drip(socket);
    },
    outcome: 'timeout',
  },
  header_flood: {
    answer(socket) {
      socket.write(head);
      pour(socket, `x-flood: ${'y'.repeat(1_000)}\r\n`);
    },
    outcome: 'response_too_large',
  },
  invalid_chunks: {
    answer: answerWith(`${head}transfer-encoding: chunked\r\n\r\nzz\r\nno chunk`),
    outcome: 'delivered',
  },
  garbage: { answer: answerWith('SSH-2.0-OpenSSH_9.6\r\n'), outcome: 'malformed_response' },
};

test('every odd answer has the documented outcome, and costs neither memory nor files', async () => {
  const settings = { DELIVERY_TIMEOUT_MS: String(timeoutMs), DELIVERY_RETRY_MS: '3600000' };
  const subscriptions = Object.keys(behaviours).length + 2;
  await using stage = await startStage(redis, 10, settings, {
    rssMiB: 400,
    files: subscriptions * 10 + 80,
  });
  await using canary = await startReceiver();
  await using receiver = await startRawReceiver((socket, n) => {
    const path = receiver.requests[n - 1]?.split(' ', 2)[1]?.slice(1) ?? '';
    if (path === 'moved')
      socket.write(`HTTP/1.1 307 Moved\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`);
    else behaviours[path]?.answer(socket);
  });
  await using forgetful = await startRawReceiver(resetWhenReused());
  const outcomes = {
    moved: 'redirect',
    reset_when_reused: 'delivered',
    ...mapValues(behaviours, ({ outcome }) => outcome),
  };
  const originOf = (name: string) => (name === 'reset_when_reused' ? forgetful : receiver).url;
  const paths = new Map<string, string>();
  for (const name of Object.keys(outcomes))
    paths.set(name, await stage.subscribe(new URL(`/${name}`, originOf(name)).href));
  for (const round of [1, 2]) {
    // oxlint-disable no-await-in-loop
    await stage.move();
    await vi.waitFor(async () => {
      const seen = [...paths].map(async ([name, path]) => {
        const attempts = (await stage.all<ShownAttempt>(`${path}/attempts`)).map((each) => each.outcome);
        return [name, new Set(attempts), attempts.filter((each) => each === 'delivered').length];
      });
      expect(await Promise.all(seen)).toEqual(
        Object.entries(outcomes).map(([name, outcome]) => [
          name,
          new Set([outcome]),
          outcome === 'delivered' ? 10 * round : 0,
        ]),
      );
    }, slow);
    // oxlint-enable no-await-in-loop
  }
  expect(canary.received).toEqual([]);
  expect(forgetful.requests.length).toBeGreaterThan(20);
  const shown = async (name: string) => stage.show(paths.get(name) ?? '');
  expect(await shown('gone')).toMatchObject({ state: 'disabled', nextAttemptAt: null, lag: 20 });
  for (const name of ['endless_pause', 'pause_until']) {
    const restsMs = Date.parse((await shown(name)).nextAttemptAt ?? '') - Date.now();
    expect(restsMs).toBeGreaterThan(3_500_000);
    expect(restsMs).toBeLessThanOrEqual(3_600_000);
  }
  await vi.waitFor(() => expect(receiver.open()).toBe(0), slow);
}, 60_000);

test('410 while others are in flight disables at once; what was acknowledged stays so, the rest waits', async () => {
  const latch = createLatch();
  await using stage = await startStage(redis, 8, { DELIVERY_MAX_IN_FLIGHT: '8' });
  await using receiver = await startReceiver(async ({ filingId }) => {
    if (filingId === 'f0') return 410;
    await latch.opened;
    return 200;
  });
  const path = await stage.subscribe(receiver.url);
  await stage.move();
  await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ state: 'disabled' }), slow);
  const sent = receiver.received.length;
  expect(sent).toBeLessThanOrEqual(8);
  latch.open();
  await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ lag: 8 - (sent - 1) }), slow);
  receiver.answer(200);
  await stage.daemon.api.ok('PATCH', path, { enabled: true });
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(8), slow);
  expect(new Set(receiver.accepted.map(({ filingId }) => filingId)).size).toBe(8);
  await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ lag: 0 }), slow);
}, 60_000);

function mapValues<T, U>(record: Readonly<Record<string, T>>, of: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]));
}
