import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findExecutable } from '../../../src/redis/server/find-server.ts';
import { durableArgs, freePort, startOnFreePort } from '../../../src/redis/server/redis-process.ts';

/** A Redis Cluster for one benchmark, gone with it. */
export interface PrivateCluster extends AsyncDisposable {
  readonly url: string;
  /** Milliseconds of CPU that each primary has used so far. */
  cpuMs(): Promise<number[]>;
}

const slotCount = 16_384;

/** Starts so many primaries, each with its share of the slots, and waits until all agree. */
export async function startPrivateCluster(primaries: number): Promise<PrivateCluster> {
  const executable = findExecutable(['redis-server', 'valkey-server'], process.env['PATH'] ?? '');
  if (executable === null) throw new Error('benchmarks need redis-server or valkey-server in PATH');
  await using stack = new AsyncDisposableStack();
  const nodes: { client: Redis; port: number; busPort: number }[] = [];
  for (let index = 0; index < primaries; index += 1) {
    // oxlint-disable no-await-in-loop
    const directory = await mkdtemp(join(tmpdir(), 'filing-webhooks-bench-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const busPort = await freePort();
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
    const args = [...durableArgs('everysec'), ...cluster];
    const running = await startOnFreePort({ executable, directory, args });
    stack.defer(() => running.end('SIGKILL'));
    const client = new Redis(`redis://127.0.0.1:${running.port}`);
    stack.defer(() => client.disconnect());
    const [from, to] = [index, index + 1].map((share) => Math.ceil((slotCount * share) / primaries));
    await client.cluster('ADDSLOTSRANGE', from ?? 0, (to ?? slotCount) - 1);
    const first = nodes[0];
    if (first !== undefined) await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.busPort);
    nodes.push({ client, port: running.port, busPort });
    // oxlint-enable no-await-in-loop
  }
  const isWhole = async ({ client }: { client: Redis }) => {
    const info = await client.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${primaries}`);
  };
  while (!(await Promise.all(nodes.map(isWhole))).every(Boolean)) await delay(100);
  const all = stack.move();
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    cpuMs: () => Promise.all(nodes.map(({ client }) => cpuMsOf(client))),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function cpuMsOf(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const seconds = ['user', 'sys'].map((kind) =>
    Number(new RegExp(`^used_cpu_${kind}:(.*)$`, 'm').exec(info)?.[1]),
  );
  return seconds.reduce((sum, each) => sum + each, 0) * 1_000;
}
