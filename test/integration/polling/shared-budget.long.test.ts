import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import {
  createAccounts,
  startPollers,
  startSharedHost,
  shortestSpan,
} from '../../support/partner/shared-host.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const totalRps = 40;
const small = Array.from({ length: 14 }, (_, i) => `small-${i}`);
// Their polls are deltas, and they are swept again and again.
const large = Array.from({ length: 6 }, (_, i) => `large-${i}`);
const accounts = [...small, ...large];
const filings = Object.fromEntries(accounts.map((name) => [name, name.startsWith('large') ? 750 : 20]));

it('four processes keep to one budget, whichever of them is killed, and no account goes without', async () => {
  // Its own keys each time: accounts of a run before would poll a host that is gone.
  const redis = testRedis();
  onTestFinished(() => redis.cleanup());
  await using host = await startSharedHost(filings);
  const environment = { PARTNER_TOTAL_RPS: String(totalRps), POLL_INTERVAL_MS: '500', LOG_LEVEL: 'info' };
  const daemons = await startPollers(redis, 4, environment);
  await using stack = new AsyncDisposableStack();
  for (const daemon of daemons) stack.use(daemon);
  const [first, second] = daemons;
  if (first === undefined || second === undefined) throw new Error('no daemons');
  await createAccounts(first, host, accounts, 500);
  const swept = async (name: string) => {
    type Shown = { readonly health: { readonly lastSweepAt: string | null } };
    return (await first.api.ok<Shown>('GET', `/v1/accounts/${name}`)).health.lastSweepAt;
  };
  const sweptAt = () => Promise.all(accounts.map(swept));
  await expect.poll(async () => (await sweptAt()).every(Boolean), { timeout: 120_000 }).toBe(true);

  // Everything asks for more than there is: polls twice a second, and sweeps.
  const before = await sweptAt();
  for (const name of large) await first.api.ok('POST', `/v1/accounts/${name}/poll?mode=sweep`);
  const from = host.arrivals.length;
  await delay(10_000);
  const during = host.arrivals.slice(from);
  expect(during.length).toBeGreaterThan(0.6 * 10 * totalRps);
  for (const name of accounts) expect(during.filter(({ account }) => account === name)).not.toEqual([]);
  const sweeps = during.filter(({ account, isWholeList }) => account.startsWith('large') && isWholeList);
  expect(sweeps.length).toBeLessThan(during.length / 4);

  // The accounts that it polled are polled by the others, once its leases are over.
  await second.end('SIGKILL');
  const killedAt = host.arrivals.length;
  const without = () => {
    const polled = new Set(host.arrivals.slice(killedAt).map(({ account }) => account));
    return accounts.filter((name) => !polled.has(name));
  };
  await expect.poll(without, { timeout: 30_000 }).toEqual([]);
  // Sweeps end too, although changes always wait.
  await expect
    .poll(async () => (await sweptAt()).filter((at, i) => at !== before[i]).length, { timeout: 120_000 })
    .toBeGreaterThanOrEqual(accounts.length);

  const times = host.arrivals.map(({ at }) => at);
  // One more than the budget takes more than a second, wherever it begins.
  expect(shortestSpan(times, totalRps)).toBeGreaterThan(1_000);
  const metrics = await fetch(`${first.url}/metrics`, {
    headers: { authorization: 'Bearer token-of-the-operator-in-tests' },
  });
  const oldest = /^filing_webhooks_oldest_poll_seconds (\S+)$/m.exec(await metrics.text())?.[1];
  expect(Number(oldest)).toBeGreaterThan(0);
  const failures = daemons.flatMap(({ logs }) => logs).filter(({ msg }) => msg === 'poll.failed');
  expect(failures).toEqual([]);
}, 300_000);
