import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findExecutable } from '../../../src/redis/server/find-server.ts';

/** strace's file, installed on Debian as root where it is missing; null where it cannot be had. */
export function findStrace(): string | null {
  const find = () => findExecutable(['strace'], process.env['PATH'] ?? '');
  const found = find();
  if (found !== null) return found;
  try {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'strace'], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  return find();
}

/** A process under watch. */
export interface KillAtWrite {
  /** Lets go of the process, if it still lives. */
  release(): Promise<void>;
}

const writes = 'write,writev,sendto,sendmsg';

/**
 * From now on the process's n-th write to a socket or pipe kills it before anything is written. Resolves when
 * that is in force.
 */
export async function killAtWrite(strace: string, pid: number, n: number): Promise<KillAtWrite> {
  const inject = `inject=${writes}:signal=SIGKILL:when=${n}`;
  // Without -f: the main thread alone, which does all of Node's network I/O.
  const tracer = spawn(
    strace,
    ['-o', '/dev/null', '-e', `trace=${writes}`, '-e', inject, '-p', String(pid)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const exited = once(tracer, 'exit');
  const attached = new Promise<void>((resolve, reject) => {
    tracer.stderr.on('data', (chunk: Buffer) => {
      if (chunk.includes('attached')) resolve();
    });
    exited.then(() => reject(new Error('strace could not attach')), reject);
  });
  await attached;
  return {
    async release() {
      tracer.kill('SIGTERM');
      await exited;
    },
  };
}
