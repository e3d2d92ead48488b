import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { fullCycle } from '../support/daemon/full-cycle.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { startCluster } from '../support/redis/topologies.ts';

// docs/managed-redis.md describes these kinds of services.

const without = (commands: string): string[] =>
  commands.split(' ').flatMap((command) => ['--rename-command', command, '']);
const administration =
  'ACL BGREWRITEAOF BGSAVE CONFIG DEBUG MIGRATE MODULE MONITOR REPLICAOF SAVE SHUTDOWN SLAVEOF SYNC PSYNC';
const volatile = ['--appendonly', 'no'];
// Two daemons are started one after the other.
const cycleMs = 240_000;

test(
  'a service that keeps its data and denies all administration does the whole job',
  async () => {
    await using server = await startPrivateRedis({ args: without(administration) });
    expect(await fullCycle({ REDIS_URL: server.url })).toEqual([]);
  },
  cycleMs,
);

test(
  'a service without an append-only file does it with REDIS_UNSAFE, and readiness says what is accepted',
  async () => {
    await using server = await startPrivateRedis({ args: [...volatile, ...without(administration)] });
    const environment = { REDIS_URL: server.url };
    await expect(startDaemonProcess(environment)).rejects.toThrow(
      /ended with 78: .*keeps no append-only file.*managed-redis\.md.*REDIS_UNSAFE=true/s,
    );
    expect(await fullCycle({ ...environment, REDIS_UNSAFE: 'true' })).toEqual([
      expect.stringContaining('keeps no append-only file'),
    ]);
  },
  cycleMs,
);

test(
  'a service that denies by rules, and has no WAIT, CLIENT or COMMAND, does it, but waits for no replicas',
  async () => {
    await using server = await startPrivateRedis({
      args: [
        ...without('WAIT CLIENT COMMAND CLUSTER OBJECT LASTSAVE ROLE'),
        ...'--user app on >secret ~* &* +@all -@admin -@dangerous +info'.split(' '),
      ],
    });
    const environment = { REDIS_URL: server.url.replace('//', '//app:secret@') };
    expect(await fullCycle(environment)).toEqual([]);
    await expect(startDaemonProcess({ ...environment, REDIS_WAIT_REPLICAS: '1' })).rejects.toThrow(
      /ended with 78: .*lacks commands that the daemon needs: wait\./s,
    );
  },
  cycleMs,
);

test(
  'a Redis on the same machine is used over its Unix socket',
  async () => {
    await using server = await startPrivateRedis({
      args: ['--unixsocket', 'redis.sock', '--requirepass', 'secret'],
    });
    const environment = { REDIS_URL: `redis+unix://:secret@${server.directory}/redis.sock?db=1` };
    expect(await fullCycle(environment)).toEqual([]);
    const redis = new Redis(server.url, { password: 'secret' });
    expect(await redis.info('keyspace')).toMatch(/db1:/);
    expect(await redis.dbsize()).toBe(0);
    redis.disconnect();
  },
  cycleMs,
);

test.each([
  [
    'EVALSHA',
    /ended with 78: .*lacks commands that the daemon needs: evalsha\. They were removed or renamed/s,
  ],
  ['EVAL', /ended with 78: .*lacks commands that the daemon needs: eval\./s],
  ['BZPOPMIN', /ended with 78: .*lacks commands that the daemon needs: bzpopmin\./s],
])('a Redis without %s ends the start with its name', async (command, problem) => {
  await using server = await startPrivateRedis({ args: without(command) });
  await expect(startDaemonProcess({ REDIS_URL: server.url })).rejects.toThrow(problem);
});

test('a node of a cluster that is given as a single server is said to be one at the start', async () => {
  await using cluster = await startCluster();
  const REDIS_URL = cluster.nodes[0]?.url ?? '';
  await using daemon = await startDaemonProcess({ REDIS_URL }, 'daemon.listening');
  await vi.waitFor(() => {
    const problems = daemon.logs.filter(({ msg }) => msg === 'redis.waiting').map(({ problem }) => problem);
    expect(problems).toContainEqual(expect.stringMatching(/node of a cluster: .*redis\+cluster:\/\//));
  }, 20_000);
});

test('a file that REDIS_URL names and that is not there ends the start with its path', async () => {
  const environment = { REDIS_URL: 'rediss://127.0.0.1:1?cacert=/nowhere/ca.pem' };
  await expect(startDaemonProcess(environment)).rejects.toThrow(
    /ended with 78: .*names \/nowhere\/ca\.pem as cacert.*ENOENT.*give the path/s,
  );
});
