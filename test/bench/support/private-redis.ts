import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable } from '../../../src/redis/server/find-server.ts';
import { durableArgs, startOnFreePort } from '../../../src/redis/server/redis-process.ts';

/** A Redis for one benchmark, gone with it. */
export interface PrivateRedis extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/**
 * Starts a Redis of its own, durable unless it is to keep everything in memory alone; throws where there is
 * no redis-server.
 */
export async function startPrivateRedis(
  appendfsync: 'always' | 'everysec' | 'in memory',
): Promise<PrivateRedis> {
  const executable = findExecutable(['redis-server', 'valkey-server'], process.env['PATH'] ?? '');
  if (executable === null) throw new Error('benchmarks need redis-server or valkey-server in PATH');
  const directory = await mkdtemp(join(tmpdir(), 'filing-webhooks-bench-'));
  const args = appendfsync === 'in memory' ? ['--save', ''] : durableArgs(appendfsync);
  const running = await startOnFreePort({ executable, directory, args });
  return {
    url: `redis://127.0.0.1:${running.port}`,
    pid: running.pid,
    async [Symbol.asyncDispose]() {
      await running.end('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
