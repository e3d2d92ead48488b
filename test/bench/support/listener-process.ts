import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';

/** What all listeners together have got so far. */
export interface Heard {
  readonly events: number;
  /** From the recording of an event to its arrival in milliseconds, of a sample. */
  readonly delays: readonly number[];
}

/** Listeners to an event stream in a process of their own. */
export interface ListenerProcess extends AsyncDisposable {
  heard(): Promise<Heard>;
}

interface Order {
  readonly url: string;
  readonly token: string;
  readonly listeners: number;
}

const self = fileURLToPath(import.meta.url);
const marker = Buffer.from('\ndata: ');

/** Opens so many streams and resolves when each has begun; they end with this process at the latest. */
export async function startListeners(order: Order): Promise<ListenerProcess> {
  const child = fork(self, ['listen'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await ask(child, order);
  return {
    heard: () => ask<Heard>(child, 'heard'),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function ask<T>(child: ChildProcess, question: Order | 'heard'): Promise<T> {
  const answered = once(child, 'message');
  child.send(question);
  const [answer] = (await answered) as [T];
  return answer;
}

async function listen(): Promise<void> {
  let events = 0;
  let delays: number[] = [];
  const hear = (isSampled: boolean) => (piece: Buffer) => {
    const now = performance.timeOrigin + performance.now();
    for (let at = piece.indexOf(marker); at !== -1; at = piece.indexOf(marker, at + 1)) {
      events += 1;
      // The body begins with id, type and timestamp.
      const [, recorded] = isSampled
        ? (/"timestamp":"([^"]+)"/.exec(piece.toString('latin1', at, at + 200)) ?? [])
        : [];
      if (recorded !== undefined) delays.push(now - Date.parse(recorded));
    }
  };
  process.on('disconnect', () => process.exit());
  process.on('message', (question: Order | 'heard') => {
    if (question !== 'heard') {
      const streams = Array.from({ length: question.listeners }, (_, i) =>
        open(question, hear(i % 50 === 0)),
      );
      void Promise.all(streams).then(() => process.send?.('listening'));
      return;
    }
    process.send?.({ events, delays } satisfies Heard);
    events = 0;
    delays = [];
  });
}

function open({ url, token }: Order, hear: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream answered ${response.statusCode}`));
      response.on('data', hear);
      resolve();
    }).on('error', reject);
  });
}

if (process.argv[2] === 'listen' && process.argv[1] === self) await listen();
