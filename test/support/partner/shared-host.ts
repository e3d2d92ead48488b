import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestRedis } from '../redis/test-redis.ts';
import { startDaemonProcess, type DaemonProcess } from '../daemon/daemon-process.ts';
import { partnerRow } from './hostile-partner.ts';

/** A request as it arrived at the host. */
export interface Arrival {
  /** Milliseconds, monotonic. */
  readonly at: number;
  readonly account: string;
  /** Whether it asks for a page of a whole list. */
  readonly isWholeList: boolean;
}

/** One host with the filings of several accounts, each below a path of its own. */
export interface SharedHost extends AsyncDisposable {
  readonly arrivals: readonly Arrival[];
  baseUrlOf(account: string): string;
}

/** Starts one; `filingsOf` says how many filings each account has. */
export async function startSharedHost(filingsOf: Readonly<Record<string, number>>): Promise<SharedHost> {
  const most = Math.max(...Object.values(filingsOf));
  const rows = Array.from({ length: most }, (_, i) => partnerRow(`f${i}`, i < 10 ? 'PENDING' : 'COMPLETED'));
  const arrivals: Arrival[] = [];

  const server = createServer(({ url: target = '/' }, response) => {
    const url = new URL(target, 'http://localhost');
    const [, account = '', , endpoint = ''] = url.pathname.split('/');
    const [limit, status] = [Number(url.searchParams.get('limit')), url.searchParams.get('status')];
    const isWholeList = endpoint === 'filings' && status === null && limit > 1;
    arrivals.push({ at: performance.now(), account, isWholeList });
    if (endpoint === 'me') return send(response, { email: `${account}@example.test` });
    if (endpoint !== 'filings') return send(response, rows.find(({ id }) => id === endpoint) ?? {});
    const own = rows.slice(0, filingsOf[account]);
    const matching = status === null ? own : own.filter((row) => row.status === status);
    const offset = Number(url.searchParams.get('offset'));
    const items = matching.slice(offset, offset + limit);
    return send(response, { items, total: matching.length, offset, limit });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    arrivals,
    baseUrlOf: (account) => `http://127.0.0.1:${port}/${account}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** The largest number of these times (milliseconds) in any second, wherever it begins. */
export function mostInASecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let from = 0;
  let most = 0;
  for (const [i, at] of sorted.entries()) {
    while ((sorted[from] ?? at) <= at - 1_000) from += 1;
    most = Math.max(most, i - from + 1);
  }
  return most;
}

/** Starts that many processes on one Redis that poll; the first one has the API too. */
export async function startPollers(
  redis: Pick<TestRedis, 'url' | 'prefix'>,
  processes: number,
  environment: Readonly<Record<string, string>>,
): Promise<DaemonProcess[]> {
  const shared = { REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix, PARTNER_MAX_RPS: '1000', ...environment };
  return Promise.all(
    Array.from({ length: processes }, (_, i) =>
      startDaemonProcess({ ...shared, ROLES: i === 0 ? 'api,poll' : 'poll' }),
    ),
  );
}

/** Creates accounts of a host. */
export async function createAccounts(
  { api }: DaemonProcess,
  host: SharedHost,
  accounts: readonly string[],
  pollIntervalMs: number,
): Promise<void> {
  for (const account of accounts) {
    const body = { baseUrl: host.baseUrlOf(account), partnerKey: 'k', pollIntervalMs };
    await api.ok('PUT', `/v1/accounts/${account}`, body);
  }
}
