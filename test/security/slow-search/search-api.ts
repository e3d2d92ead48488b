import { setTimeout as sleep } from 'node:timers/promises';
import { startPrivateRedis } from '../../bench/support/private-redis.ts';
import { apiToken, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startSandbox } from '../../support/partner/sandbox.ts';
import { seedsOf, wordsOf, type ApiDescription } from './api-seeds.ts';
import { describe, type HttpRequest } from './http-request.ts';
import { createMeter } from './measured-process.ts';
import { searchSlow, type CostOf } from './search.ts';

// Milliseconds of processor time from which a request is reported: others wait as long for their answers.
const slowMs = 50;
const filings = 300;
const account = 'watched';
// Number of requests after which what they have made is removed: lists shall not grow by the search itself.
const tidyEvery = 250;

/**
 * Searches the API of a daemon in a process of its own for slow requests, over a real Redis with the filings
 * and events of an account; prints them. Resolves with their number.
 */
export async function searchApi(seed: number, seconds: number): Promise<number> {
  await using redis = await startPrivateRedis('in memory');
  await fill(redis.url);
  await using meter = await createMeter();
  await using daemon = await startDaemonProcess({
    ...meter.environment,
    REDIS_URL: redis.url,
    REDIS_UNSAFE: 'true',
    ROLES: 'api',
    TRUSTED_PROXIES: '127.0.0.0/8',
  });
  const { api } = daemon;
  const settings = { url: 'http://127.0.0.1:9001/', eventTypes: ['filing.*'] };
  const { id } = await api.ok<{ id: string }>('POST', `/v1/accounts/${account}/subscriptions`, settings);
  const { body: description } = await api.call<ApiDescription>('GET', '/openapi.json');
  const ids = { account, id, filing: 'f_1', replay: `rpl_1.${id}` };
  const headers = [
    ['host', 'localhost'],
    ['authorization', `Bearer ${apiToken}`],
    ['accept', 'application/json'],
    ['accept-encoding', 'gzip'],
  ] as const;
  using measured = await meter.costsAt(Number(new URL(daemon.url).port));

  async function tidy(): Promise<void> {
    const path = `/v1/accounts/${account}`;
    for (const list of ['subscriptions', 'tokens']) {
      const { items } = await api.ok<{ items: { id: string }[] }>('GET', `${path}/${list}?limit=100`);
      for (const item of items) if (item.id !== id) await api.call('DELETE', `${path}/${list}/${item.id}`);
    }
  }

  let sent = 0;
  const costOf: CostOf = async (request) => {
    if (removes(request, account, id)) return 0;
    sent += 1;
    if (sent % tidyEvery === 0) await tidy();
    // Each comes from another address, so no limit by address answers in place of the route.
    const from = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
    const has = request.headers.some(([name]) => name === 'x-forwarded-for');
    const added = has ? request.headers : [...request.headers, ['x-forwarded-for', from] as const];
    return measured.costOf({ ...request, headers: added });
  };

  const seeds = seedsOf(description, ids, headers);
  const report = await searchSlow(seeds, wordsOf(description), costOf, {
    seed,
    executions: Infinity,
    forMs: seconds * 1_000,
    slowMs,
  });
  const { executions, findings, dearest } = report;
  process.stdout.write(`slow requests                ${executions} requests, ${seeds.length} operations\n`);
  for (const { operation, costMs, request } of dearest.slice(0, 5))
    process.stdout.write(`  ${operation}: at most ${costMs.toFixed(1)} ms, by\n${describe(request)}\n`);
  for (const { operation, costs, request } of findings) {
    const figures = costs.map((ms) => ms.toFixed(0)).join(', ');
    process.stdout.write(`  SLOW ${operation}: ${figures} ms each time, by\n${describe(request)}\n`);
  }
  return findings.length;
}

// What all other requests need is not removed.
function removes({ method, target }: HttpRequest, ...kept: readonly string[]): boolean {
  const last =
    target
      .split(/[?#]/, 1)[0]
      ?.split('/')
      .findLast((part) => part !== '') ?? '';
  return method === 'DELETE' && kept.includes(last);
}

// A daemon with all roles takes in the filings and then events of them; the one that is measured polls
// nothing, so its processor time is that of the requests.
async function fill(redisUrl: string): Promise<void> {
  await using sandbox = await startSandbox();
  await sandbox.seed(filings);
  await using daemon = await startDaemonProcess({ REDIS_URL: redisUrl, REDIS_UNSAFE: 'true' });
  const { api } = daemon;
  const path = `/v1/accounts/${account}`;
  await api.ok('PUT', path, { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key' });
  const { counts } = await until(
    () => api.ok<{ counts: object; health: { state: string } }>('GET', path),
    ({ health }) => health.state === 'ok',
  );
  if (Object.keys(counts).length === 0) throw new Error('the account has no filings');
  for (let i = 0; i < 40; i += 1) await sandbox.set(`f_new_${i}`, { status: 'PAID' });
  await until(
    () => api.ok<{ items: unknown[] }>('GET', `${path}/events?limit=100`),
    ({ items }) => items.length >= 40,
  );
  await daemon.end('SIGTERM');
}

async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await sleep(100);
  }
}
