import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf } from './http-request.ts';
import type { CostOf } from './search.ts';

/** The place at which a process is measured. */
export interface Meter extends AsyncDisposable {
  /** For the process to be measured. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Sends requests to the server of the process at this port of loopback, one at a time, and measures each.
   * Rejects when the process has ended.
   */
  costsAt(port: number): Promise<{ readonly costOf: CostOf } & Disposable>;
}

// Milliseconds for an answer; the cost of one that comes later is still measured.
const answerMs = 1_000;
// Milliseconds for the process to come back from a request.
const heldMs = 120_000;

/** A socket of a temporary folder, gone with the meter. */
export async function createMeter(): Promise<Meter> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-meter-'));
  const path = join(folder, 'meter');
  return {
    environment: {
      METER_SOCKET: path,
      NODE_OPTIONS: `--import=${fileURLToPath(new URL('meter.ts', import.meta.url))}`,
    },
    async costsAt(port) {
      const socket = connect(path);
      await once(socket, 'connect');
      return {
        async costOf(request) {
          const before = await takenUs(socket);
          await exchange(port, bytesOf(request));
          return ((await takenUs(socket)) - before) / 1_000;
        },
        [Symbol.dispose]: () => socket.destroy(),
      };
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function takenUs(socket: Socket): Promise<number> {
  socket.write('?');
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(heldMs) })) as [Buffer];
  return Number(answer.toString());
}

// Waits for the end of the answer, or for its beginning where it is a stream without an end.
function exchange(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(answerMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (chunk.includes('text/event-stream')) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
    });
    socket.on('close', () => resolve());
    socket.write(bytes);
  });
}
