import { get } from 'node:http';
import { answer, isChild, startChild } from './child.ts';

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

const marker = Buffer.from('\ndata: ');

/** Opens so many streams and resolves when each has begun; they end with this process at the latest. */
export async function startListeners(order: Order): Promise<ListenerProcess> {
  const child = await startChild<Order | 'heard'>(import.meta.url);
  await child.ask(order);
  return {
    heard: () => child.ask<Heard>('heard'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

function listen(): void {
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
  answer(async (question: Order | 'heard') => {
    if (question !== 'heard') {
      const { listeners } = question;
      await Promise.all(Array.from({ length: listeners }, (_, i) => open(question, hear(i % 50 === 0))));
      return 'listening';
    }
    const heard: Heard = { events, delays };
    events = 0;
    delays = [];
    return heard;
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

if (isChild(import.meta.url)) listen();
