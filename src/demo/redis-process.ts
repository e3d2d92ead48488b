import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A running redis-server that this process started. */
export type RedisProcess = {
  readonly port: number;
  readonly pid: number;
  /**
   * Ends the process and resolves when it is gone; SIGKILL loses the same data as a crash. Harmless when it
   * has ended already.
   */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/**
 * The server to start: `args` come after the bind address, port and directory and may override everything
 * else.
 */
export type RedisProcessOptions = {
  readonly executable: string;
  readonly directory: string;
  readonly port: number;
  readonly args: readonly string[];
};

const readyLine = /Ready to accept connections|Sentinel ID is/;
const startDeadlineMs = 15_000;

/**
 * Arguments of a Redis that this daemon accepts: append-only file on, nothing evicted, no snapshots beside
 * it.
 */
export function durableArgs(appendfsync: 'always' | 'everysec'): string[] {
  return [
    '--appendonly',
    'yes',
    '--appendfsync',
    appendfsync,
    '--maxmemory-policy',
    'noeviction',
    '--save',
    '',
  ];
}

/**
 * Starts redis-server (or valkey-server) on 127.0.0.1 and resolves once it accepts connections; throws with
 * the end of its output when it does not within 15 s. It runs in a session of its own: a Ctrl-C for this
 * process does not stop it. If this process is killed, a watchdog kills the server and removes its directory.
 */
export async function startRedisProcess(options: RedisProcessOptions): Promise<RedisProcess> {
  const { executable, directory, port, args } = options;
  const fixed = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory, '--daemonize', 'no'];
  const child = spawn(executable, [...fixed, ...args], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await untilReady(child);
  const pid = child.pid ?? 0;
  const watchdog = watchParent(pid, directory);
  child.once('exit', () => watchdog.kill('SIGKILL'));
  child.unref();
  return {
    port,
    pid,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      child.kill(signal);
      await exited;
    },
  };
}

/** `startRedisProcess` on a free port; tries three ports, because another process may take one first. */
export async function startOnFreePort(
  options: Omit<RedisProcessOptions, 'port'>,
  attempts = 3,
): Promise<RedisProcess> {
  try {
    return await startRedisProcess({ ...options, port: await freePort() });
  } catch (error) {
    if (attempts <= 1) throw error;
    return await startOnFreePort(options, attempts - 1);
  }
}

/**
 * A TCP port of 127.0.0.1 that was free a moment ago. Another process may still take it first: callers retry.
 * It lies below the ports that systems give to outgoing connections: a client that reconnects can neither
 * occupy it nor connect to itself.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  return (await isFree(port)) ? port : freePort();
}

/** Whether a TCP port of 127.0.0.1 is free now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (reason: string): void => reject(new Error(`${reason}: ${output.trim().slice(-600)}`));
  const timer = setTimeout(() => fail('it did not become ready within 15 s'), startDeadlineMs);
  child.once('error', (error) => fail(error.message));
  // `close`, unlike `exit`, comes after all output was read.
  child.once('close', (code, signal) => fail(`it ended at once (${signal ?? `exit code ${code}`})`));
  const read = (chunk: string): void => {
    output = (output + chunk).slice(-4_000);
    if (readyLine.test(output)) resolve();
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', read);
  try {
    await promise;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
    // From here on the output of the server is not read; a full pipe would block it.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/**
 * A shell that acts when its standard input ends, which happens at the end of this process, whatever its
 * cause.
 */
function watchParent(pid: number, directory: string): ChildProcess {
  const script = 'read -r _; kill -9 "$1"; rm -rf -- "$2"';
  const watchdog = spawn('/bin/sh', ['-c', script, 'redis-watchdog', String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.once('error', () => undefined);
  watchdog.unref();
  return watchdog;
}
