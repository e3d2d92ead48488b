import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A running redis-server that this process started. */
export type RedisProcess = Pick<ServerProcess, 'pid' | 'end'> & { readonly port: number };

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

/** A server process in a session of its own: a Ctrl-C for this process does not stop it. */
export type ServerProcess = {
  readonly pid: number;
  /** Resolves once it accepts connections; rejects with the end of its output if it ends before. */
  readonly ready: Promise<void>;
  /** Resolves to the way in which it ended, such as `exit code 1` or `SIGKILL`. */
  readonly ended: Promise<string>;
  /**
   * Sends a signal and resolves when the process is gone; SIGKILL loses the same data as a crash. Harmless
   * when it has ended already.
   */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

const readyLine = /ready to accept connections|Sentinel ID is/i;
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
 * Starts redis-server (or valkey-server) in a directory, with these arguments. It runs until it is
 * ended, also after the end of this process.
 */
export function spawnServer(executable: string, directory: string, args: readonly string[]): ServerProcess {
  const child = spawn(executable, ['--dir', directory, '--daemonize', 'no', ...args], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // `close`, unlike `exit`, comes after all output was read.
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const ready = untilReady(child, ended);
  ready.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      child.kill(signal);
      await ended;
    },
  };
}

/**
 * Starts a server on 127.0.0.1 and resolves once it accepts connections; throws with the end of its output
 * when it does not within 15 s. If this process is killed, a watchdog kills the server and removes its
 * directory.
 */
export async function startRedisProcess(options: RedisProcessOptions): Promise<RedisProcess> {
  const { executable, directory, port, args } = options;
  const at = ['--bind', '127.0.0.1', '--port', String(port)];
  const server = spawnServer(executable, directory, [...at, ...args]);
  const { pid, end } = server;
  const tooLate = setTimeout(() => void end('SIGKILL'), startDeadlineMs);
  try {
    await server.ready;
  } finally {
    clearTimeout(tooLate);
  }
  const watchdog = watchParent(pid, directory);
  void server.ended.then(() => watchdog.kill('SIGKILL'));
  return { port, pid, end };
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

async function untilReady(child: ChildProcess, ended: Promise<string>): Promise<void> {
  let output = '';
  const { promise: said, resolve } = Promise.withResolvers<null>();
  const read = (chunk: string): void => {
    output = (output + chunk).slice(-4_000);
    if (readyLine.test(output)) resolve(null);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', read);
  const end = await Promise.race([said, ended]);
  if (end !== null) throw new Error(`it ended before it was ready (${end}): ${output.trim().slice(-600)}`);
  // From here on the output of the server is not read; a full pipe would block it.
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
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
