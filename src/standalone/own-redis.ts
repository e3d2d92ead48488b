import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { durableArgs, spawnServer, type ServerProcess } from '../redis/server/redis-process.ts';
import { names } from './data-folder.ts';
import { isRefused, mendAppendOnlyFile } from './mend-append-only-file.ts';
import { StandaloneError } from './standalone-error.ts';

export interface OwnRedisDeps {
  /** The data folder, which this process has for itself. */
  readonly folder: string;
  /** The file of redis-server or valkey-server. */
  readonly executable: string;
  readonly logger: Logger;
  /** Ends the wait for a server that loads its data. */
  readonly signal: AbortSignal;
}

// Milliseconds that a server has to end in order.
const endsMs = 10_000;
// Minimum milliseconds between two starts of a server that does not stay.
const againMs = 1_000;

/**
 * Runs a server on the data folder until it is disposed of, which ends it in order. A server that ends by
 * itself is started again, and one that a killed daemon has left is ended first. Rejects with StandaloneError
 * when it does not start; the server's own tool has mended its file before if need be.
 */
export async function startOwnRedis(deps: OwnRedisDeps): Promise<AsyncDisposable> {
  const { folder, executable, logger } = deps;
  const stop = new AbortController();
  const stopped = once(stop.signal, 'abort').then(() => null);
  await endFormer(folder, logger);
  const first = await startServer(deps);
  logger.info({ serverPid: first.pid, executable, folder }, 'redis_server.started');

  async function supervise(): Promise<void> {
    let server = first;
    for (let startedAt = performance.now(); ; startedAt = performance.now()) {
      const reason = await Promise.race([server.ended, stopped]);
      if (reason === null) return endInOrder(server, logger);
      logger.error({ serverPid: server.pid, reason }, 'redis_server.exited');
      const wait = Math.max(0, startedAt + againMs - performance.now());
      await Promise.race([delay(wait, undefined, { ref: false }), stopped]);
      const again = await startAgain();
      if (again === null) return;
      server = again;
      logger.warn({ serverPid: server.pid }, 'redis_server.restarted');
    }
  }

  // Null when it was stopped before a server had started.
  async function startAgain(): Promise<ServerProcess | null> {
    while (!stop.signal.aborted) {
      try {
        return await startServer({ ...deps, signal: stop.signal });
      } catch (error) {
        logger.error({ reason: (error as Error).message }, 'redis_server.exited');
        await Promise.race([delay(againMs, undefined, { ref: false }), stopped]);
      }
    }
    return null;
  }

  const supervised = supervise();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await supervised;
    },
  };
}

async function startServer(deps: OwnRedisDeps): Promise<ServerProcess> {
  try {
    return await spawnOn(deps);
  } catch (error) {
    if (!isRefused((error as Error).message)) throw notStarted(deps, error as Error);
  }
  await mendAppendOnlyFile(deps);
  return await spawnOn(deps).catch((error: Error) => {
    throw notStarted(deps, error);
  });
}

// Resolves when the server has loaded its data, and also, while it still loads, when the signal aborts.
async function spawnOn({ folder, executable, signal }: OwnRedisDeps): Promise<ServerProcess> {
  const place = ['--port', '0', '--unixsocket', join(folder, names.socket), '--unixsocketperm', '700'];
  const files = ['--appenddirname', names.appendOnly, ...durableArgs('everysec')];
  const server = spawnServer(executable, folder, [...place, ...files]);
  if (signal.aborted) return server;
  const over = new AbortController();
  const aborted = once(signal, 'abort', { signal: over.signal }).catch(() => undefined);
  await Promise.race([server.ready, aborted]).finally(() => over.abort());
  return server;
}

function notStarted({ folder, executable }: OwnRedisDeps, error: Error): StandaloneError {
  const isFull = /No space left|Disk quota/.test(error.message);
  const advice = isFull ? 'the disk is full, make room there; ' : '';
  return new StandaloneError(
    `${executable} does not start on ${folder}: ${advice}${error.message.replaceAll(/\s+/g, ' ')}`,
    { cause: error },
  );
}

async function endInOrder(server: ServerProcess, logger: Logger): Promise<void> {
  const late = delay(endsMs, 'late', { ref: false });
  if ((await Promise.race([server.end('SIGTERM'), late])) === 'late')
    logger.warn({ part: 'redis server', reason: `not done after ${endsMs} ms` }, 'daemon.part_left');
}

// Ends the server that a killed daemon has left: two on the same files would destroy them.
async function endFormer(folder: string, logger: Logger): Promise<void> {
  const path = join(folder, names.socket);
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch {
    return;
  }
  let reply = '';
  socket.setEncoding('utf8').on('data', (text: string) => (reply += text));
  socket.on('error', () => undefined);
  socket.write('SHUTDOWN\r\n');
  const closed = once(socket, 'close');
  const late = delay(endsMs, 'late', { ref: false });
  if ((await Promise.race([closed, late])) === 'late') {
    socket.destroy();
    throw new StandaloneError(
      `the Redis that an earlier start has left at ${path} does not end (${reply.trim() || 'no answer'}): end it (fuser shows its process), then start again`,
    );
  }
  logger.warn({ reason: 'a killed daemon had left it; it was ended in order' }, 'redis_server.exited');
}
