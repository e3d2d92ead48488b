import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, isChild, startChild } from './child.ts';
import { createPartnerBook } from './partner-book.ts';

/**
 * What the partner service has been asked since the last question: requests per key, and when each first page
 * came.
 */
export interface PartnerTraffic {
  readonly requests: number;
  /**
   * Starts of polls (requests for offset 0 of the whole list) by key, in milliseconds of the machine's clock.
   */
  readonly polls: Readonly<Record<string, readonly number[]>>;
}

/** A well-behaved partner service in a process of its own: the same filings for every key. */
export interface PartnerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly baseUrl: string;
  /** Moves three filings on and adds one, so that the number of unsettled ones stays. */
  change(): Promise<void>;
  /** Rejects a filing and returns its id. */
  reject(): Promise<string>;
  traffic(): Promise<PartnerTraffic>;
}

type Question = 'port' | 'change' | 'reject' | 'traffic';

/**
 * Starts one with so many filings, of which some are unsettled; it ends with this process at the latest. With
 * `isShuffled` its list of REJECTED has another order in each answer.
 */
export async function startPartnerProcess(
  filings: number,
  unsettled: number,
  isShuffled = false,
): Promise<PartnerProcess> {
  const args = [filings, unsettled, Number(isShuffled)].map(String);
  const child = await startChild<Question>(import.meta.url, args);
  return {
    pid: child.pid,
    baseUrl: `http://127.0.0.1:${await child.ask<number>('port')}/v1`,
    change: async () => void (await child.ask('change')),
    reject: () => child.ask<string>('reject'),
    traffic: () => child.ask<PartnerTraffic>('traffic'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function serve(filings: number, unsettled: number, isShuffled: boolean): Promise<void> {
  const book = createPartnerBook(filings, unsettled, isShuffled);
  let requests = 0;
  let polls: Record<string, number[]> = {};
  const server = createServer((request, response) => {
    requests += 1;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = url.pathname.replace(/^\/v1\/partner\//, '');
    const offset = Number(url.searchParams.get('offset') ?? 0);
    const limit = Math.min(100, Number(url.searchParams.get('limit') ?? 20));
    const status = url.searchParams.get('status');
    if (path === 'filings' && status === null && offset === 0)
      (polls[String(request.headers['partnerkey'])] ??= []).push(performance.timeOrigin + performance.now());
    const body =
      path === 'filings'
        ? book.page(status, offset, limit)
        : path === 'me'
          ? '{"email":"a@example.test","enabledStates":[]}'
          : book.filing(decodeURIComponent(path));
    response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(body ?? '{"error":"none"}');
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answers: Record<Question, () => unknown> = {
    port: () => port,
    change: () => book.change(),
    reject: () => book.reject(),
    traffic() {
      const traffic: PartnerTraffic = { requests, polls };
      requests = 0;
      polls = {};
      return traffic;
    },
  };
  answer((question: Question) => answers[question]());
}

if (isChild(import.meta.url))
  await serve(Number(process.argv[2]), Number(process.argv[3]), process.argv[4] === '1');
