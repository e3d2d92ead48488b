import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { answer, isChild, startChild } from './child.ts';

/** What a broken partner service sends. */
export type Breakage = 'ones' | 'objects' | 'values' | 'keys' | 'all' | 'large';

/** A partner service in a process of its own that sends pages that no client can want. */
export interface BrokenPartner extends AsyncDisposable {
  readonly baseUrl: string;
  /** Moves every filing to PENDING. */
  change(): Promise<void>;
  /** Requests since the last call. */
  requests(): Promise<number>;
}

// Number of filings where there are some.
const brokenFilings = { all: 9_000, large: 60 } as const;

const mebibyte = 1024 * 1024;
const largeBytes = 14 * mebibyte;
const pageBytes = 16 * mebibyte - 100;

/** Starts one; it ends with this process at the latest. */
export async function startBrokenPartner(breakage: Breakage): Promise<BrokenPartner> {
  const child = await startChild<'port' | 'change' | 'requests'>(import.meta.url, [breakage]);
  return {
    baseUrl: `http://127.0.0.1:${await child.ask<number>('port')}/v1`,
    change: () => child.ask('change'),
    requests: () => child.ask('requests'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

const filler = Buffer.alloc(largeBytes, 'x');

/** A page of one record and what follows it, as long as a page may be. */
function filled(each: string): Buffer {
  const head = '{"total":1,"items":[{"id":"a","status":"PAID"},';
  return Buffer.from(`${head}${each.repeat((pageBytes - head.length) / each.length)}${each.slice(0, -1)}]}`);
}

function withKeys(): Buffer {
  const keys = Array.from({ length: 1_200_000 }, (_, i) => `"k${i}":1`);
  return Buffer.from(`{"total":1,"items":[{"id":"a","status":"PAID",${keys.join(',')}}]}`);
}

const pages: Readonly<Partial<Record<Breakage, () => Buffer>>> = {
  ones: () => filled('1,'),
  objects: () => filled('{},'),
  values: () =>
    Buffer.from(`{"total":1,"items":[{"id":"a","status":"PAID","x":[${'1,'.repeat(7_900_000)}1]}]}`),
  keys: withKeys,
};

async function serve(breakage: Breakage): Promise<void> {
  let status = 'PAID';
  let requests = 0;
  const page = pages[breakage]?.();
  const note = 'n'.repeat(1_600);

  function sendAll(response: ServerResponse): void {
    const row = (_: unknown, i: number) => `{"id":"f_${i}","status":"${status}","note":"${note}"}`;
    const rows = Array.from({ length: brokenFilings.all }, row);
    response.end(`{"total":${rows.length},"items":[${rows.join(',')}]}`);
  }

  function sendLarge(response: ServerResponse, id: number): void {
    response.write(`{"id":"h_${id}","status":"${status}","insuredsName":"`);
    response.write(filler);
    response.write('"}');
  }

  const server = createServer((request, response) => {
    requests += 1;
    const url = new URL(request.url ?? '', 'http://partner');
    const wanted = url.searchParams.get('status');
    const offset = Number(url.searchParams.get('offset'));
    const id = Number(/h_(\d+)$/.exec(url.pathname)?.[1]);
    if (url.pathname.endsWith('/me')) return response.end('{"email":"a@example.test"}');
    if (!url.pathname.endsWith('/filings')) {
      sendLarge(response, id);
      return response.end();
    }
    const isEmpty = (wanted !== null && wanted !== status) || offset >= brokenFilings.large;
    if (page !== undefined) return response.end(page);
    if (breakage === 'all') return isEmpty ? response.end('{"total":0,"items":[]}') : sendAll(response);
    if (isEmpty) return response.end(`{"total":${wanted === status ? brokenFilings.large : 0},"items":[]}`);
    response.write(`{"total":${brokenFilings.large},"limit":1,"items":[`);
    sendLarge(response, offset);
    return response.end(']}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  answer((question: string) => {
    if (question === 'port') return (server.address() as AddressInfo).port;
    if (question === 'change') status = 'PENDING';
    const counted = requests;
    if (question === 'requests') requests = 0;
    return counted;
  });
}

if (isChild(import.meta.url)) {
  // It stands for another machine, so it leaves the processors to the daemon.
  setPriority(constants.priority.PRIORITY_LOW);
  await serve(process.argv[2] as Breakage);
}
