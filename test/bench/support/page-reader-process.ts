import { watchAccount } from '../../support/partner/watched-account.ts';
import { createAnswerRooms } from '../../../src/partner/answer-room.ts';
import { createPartnerHttp } from '../../../src/partner/partner-http.ts';
import { largeAccountFilings } from '../../../src/polling/schedule/plan.ts';
import { createRedisConnections } from '../../../src/redis/connection/connect.ts';
import { answer, isChild, startChild } from './child.ts';

/** Who reads all pages of a partner service, in a process of its own. */
export interface PageReader extends AsyncDisposable {
  /** Reads them once and tells how many seconds that took. */
  read(): Promise<number>;
}

/** Where there is what to read. */
export interface PagesToRead {
  readonly baseUrl: string;
  readonly redisUrl: string;
  readonly filings: number;
}

/**
 * One that sweeps, after a baseline, or a `bare` one that only fetches and parses; under the daemon's own
 * options of Node.
 */
export async function startPageReader(
  kind: 'sweeping' | 'bare',
  { baseUrl, redisUrl, filings }: PagesToRead,
): Promise<PageReader> {
  const args = [kind, baseUrl, redisUrl, String(filings)];
  const child = await startChild<'read'>(import.meta.url, args, { asDaemon: true });
  return {
    read: () => child.ask<number>('read'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function readerOf([kind, baseUrl = '', redisUrl = '', filings]: readonly string[]) {
  if (kind === 'bare') return () => fetchAndParse(baseUrl, Number(filings));
  const connections = createRedisConnections(redisUrl, {
    onStateChange: () => undefined,
    connectionName: 'bench',
  });
  const at = { baseUrl, key: 'k' };
  const watched = await watchAccount(connections.command(), 'bench', at, {
    largeFrom: largeAccountFilings,
    timeoutMs: 10_000,
    pollIntervalMs: 3_600_000,
  });
  await watched.poll();
  return () => watched.poll('sweep');
}

async function fetchAndParse(baseUrl: string, filings: number): Promise<void> {
  const http = createPartnerHttp({ baseUrl, partnerKey: 'k', timeoutMs: 10_000, clock: { now: Date.now } });
  const { signal } = new AbortController();
  const room = createAnswerRooms().pages;
  for (let offset = 0; offset < filings; offset += 100) {
    const path = `partner/filings?offset=${offset}&limit=100`;
    const { body } = await http.get({ endpoint: 'filings', path, room }, signal);
    JSON.parse(body.toString());
  }
}

if (isChild(import.meta.url)) {
  const read = await readerOf(process.argv.slice(2));
  answer(async () => {
    const startedAt = performance.now();
    await read();
    return (performance.now() - startedAt) / 1_000;
  });
}
