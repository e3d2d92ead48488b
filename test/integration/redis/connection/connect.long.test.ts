import { Queue, Worker } from 'bullmq';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import type { RedisStateChange } from '../../../../src/redis/connection/connect.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';
import { startTcpProxy } from '../../../support/connections/tcp-proxy.ts';

const server = await startPrivateRedis();
afterAll(() => server.close());

function open(url: string) {
  const changes: RedisStateChange[] = [];
  const connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: (change) => changes.push(change),
  });
  return { connections, changes };
}

async function elapsedMs(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work.catch(() => undefined);
  return performance.now() - start;
}

describe('a command whose reply is lost', () => {
  test.each(['command', 'failFast'] as const)('of %s rejects and is not sent again', async (use) => {
    await using proxy = await startTcpProxy(server.port);
    await using connections = open(`redis://127.0.0.1:${proxy.port}`).connections;
    await connections.untilReady(2_000);
    const key = `once:${use}`;
    proxy.mode = 'cut-at-reply';
    await expect(connections[use]().incr(key)).rejects.toThrow(/max retries per request/);
    proxy.mode = 'pass';
    await connections.untilReady(2_000);
    expect(await connections[use]().get(key)).toBe('1');
  });
});

describe('while Redis is away', () => {
  test('failFast rejects at once, and within 2 s when Redis only hangs', async () => {
    await using proxy = await startTcpProxy(server.port);
    const { connections } = open(`redis://127.0.0.1:${proxy.port}`);
    await connections.untilReady(2_000);
    proxy.mode = 'stall';
    expect(await elapsedMs(connections.failFast().get('key'))).toBeLessThan(2_000);
    await proxy[Symbol.asyncDispose]();
    await expect.poll(() => elapsedMs(connections.failFast().get('key'))).toBeLessThan(50);
    await connections.close(100);
  });

  test('the loss is told once with its reason, and the return once', async () => {
    await using own = await startPrivateRedis();
    const { connections, changes } = open(own.url);
    await connections.untilReady(2_000);
    await own.kill();
    await expect.poll(() => connections.command().ping().then(String, String)).toMatch(/max retries/);
    await expect.poll(() => connections.failFast().ping().then(String, String)).toMatch(/writeable/);
    expect(changes).toEqual([{ up: false, reason: 'the connection was closed' }]);
    await own.restart();
    await connections.untilReady(5_000);
    expect(changes).toEqual([{ up: false, reason: 'the connection was closed' }, { up: true }]);
    await connections.close();
    expect(changes).toHaveLength(2);
  });

  test('one client that keeps failing tells it once', async () => {
    const own = await startPrivateRedis();
    await own.close();
    const { connections, changes } = open(own.url);
    const failures = [await connections.command().ping().catch(String)];
    failures.push(await connections.command().ping().catch(String));
    expect(failures).toEqual([expect.stringMatching(/max retries/), expect.stringMatching(/max retries/)]);
    expect(changes).toHaveLength(1);
    await connections.close();
  });

  test('untilReady gives up with the reason', async () => {
    const own = await startPrivateRedis();
    await own.close();
    const { connections, changes } = open(own.url);
    await expect(connections.untilReady(200)).rejects.toThrow(
      /redis:\/\/127.0.0.1:\d+: connect ECONNREFUSED/,
    );
    expect(changes).toEqual([{ up: false, reason: expect.stringContaining('ECONNREFUSED') }]);
    await connections.close();
  });
});

describe('a database that Redis does not give', () => {
  test.each([
    ['does not exist', '/99', /DB index is out of range/, []],
    [
      'is forbidden to the user',
      '/1',
      /NOPERM/,
      ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-select'],
    ],
  ])('because it %s is reported, and no command reaches database 0', async (_, path, reason, args) => {
    await using own = await startPrivateRedis({ args });
    const { connections, changes } = open(`redis://127.0.0.1:${own.port}${path}`);
    await expect
      .poll(() => connections.untilReady(300).then(() => 'ready', String), { timeout: 10_000 })
      .toMatch(reason);
    // What follows from it is no newer reason.
    for (let waits = 0; waits < 8; waits += 1)
      // oxlint-disable-next-line no-await-in-loop
      await expect(connections.untilReady(250)).rejects.toThrow(reason);
    await expect(connections.command().set('key', 'value')).rejects.toThrow(/max retries per request/);
    expect(changes).toEqual([{ up: false, reason: expect.stringMatching(reason) as string }]);
    await connections.close();
    await using root = open(own.url).connections;
    await root.untilReady(2_000);
    expect(await root.command().get('key')).toBeNull();
  });
});

describe('a Redis with a password', () => {
  test('is entered with user and password, and a wrong one is reported without showing it', async () => {
    await using own = await startPrivateRedis({
      args: ['--user', 'fw', 'on', '>p@ss/w:rd', '~*', '&*', '+@all', '--requirepass', 'other'],
    });
    await using right = open(`redis://fw:p%40ss%2Fw%3Ard@127.0.0.1:${own.port}`).connections;
    await right.untilReady(2_000);
    expect(await right.command().ping()).toBe('PONG');
    const { connections: wrong } = open(`redis://fw:guessed@127.0.0.1:${own.port}`);
    let error = '';
    await expect
      .poll(async () => (error = await wrong.untilReady(300).then(() => '', String)))
      .toMatch(/WRONGPASS/);
    expect(error).not.toMatch(/guessed/);
    await wrong.close();
  });

  test('names itself to Redis', async () => {
    await using connections = open(server.url).connections;
    await connections.untilReady(2_000);
    expect(await connections.command().client('LIST')).toMatch(/name=fw-test:failFast/);
  });
});

describe('close', () => {
  test('lets replies under way arrive', async () => {
    const { connections } = open(server.url);
    await connections.untilReady(2_000);
    const reply = connections.command().set('closing', 'saved');
    await connections.close();
    expect(await reply).toBe('OK');
  });

  test('does not wait longer than its deadline for a Redis that hangs', async () => {
    await using proxy = await startTcpProxy(server.port);
    const { connections } = open(`redis://127.0.0.1:${proxy.port}`);
    await connections.untilReady(2_000);
    proxy.mode = 'stall';
    const stuck = connections.command().ping().catch(String);
    expect(await elapsedMs(connections.close(100))).toBeLessThan(1_000);
    expect(await stuck).toMatch(/Connection is closed/);
  });
});

describe('BullMQ on these connections', () => {
  test('works through jobs, before and after Redis was restarted, and its queue fails fast in between', async () => {
    await using own = await startPrivateRedis({ appendfsync: 'always' });
    const { connections } = open(own.url);
    await connections.untilReady(2_000);
    const done: string[] = [];
    const queue = new Queue('work', { connection: connections.failFast(), prefix: 'fw:{~queues}' });
    const worker = new Worker('work', async (job) => void done.push(job.name), {
      connection: connections.blocking(),
      prefix: 'fw:{~queues}',
    });
    const ignore = vi.fn<() => void>();
    queue.on('error', ignore);
    worker.on('error', ignore);
    await queue.add('before', {});
    await expect.poll(() => done).toEqual(['before']);
    await own.kill();
    await expect.poll(() => connections.failFast().status).not.toBe('ready');
    expect(await elapsedMs(queue.add('during', {}))).toBeLessThan(200);
    await own.restart();
    await connections.untilReady(5_000);
    await queue.add('after', {});
    await expect.poll(() => done, { timeout: 10_000 }).toEqual(['before', 'after']);
    await worker.close();
    await queue.close();
    await connections.close();
  });
});

test('an address that is none is refused without being repeated', () => {
  expect(() => open('redis://secret@host')).toThrow(/^the Redis address needs user:password@ or :password@/);
});
