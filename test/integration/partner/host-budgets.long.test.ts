import { afterAll, describe, expect, it } from 'vitest';
import {
  createHostBudgets,
  hostOf,
  type HostBudgets,
  type Urgency,
} from '../../../src/partner/host-budgets.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { startSlowLine } from '../../support/connections/slow-line.ts';
import { storedRecords } from '../../support/redis/stored-account.ts';
import { shareOf, testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
const stored = storedRecords(client, keys);
afterAll(() => redis.cleanup());

const never = new AbortController().signal;
let hosts = 0;
const newHost = () => {
  hosts += 1;
  return `http://host-${hosts}.test/v1`;
};
const budgetsOf = (totalRps: number): HostBudgets => createHostBudgets({ redis: client, keys, totalRps });

/** Keeps a request waiting all the time, and counts its turns. */
function spend(budgets: HostBudgets, baseUrl: string, account: string, urgency: Urgency) {
  const stop = new AbortController();
  const times: number[] = [];
  const done = (async () => {
    for (;;) {
      await budgets.turn({ account, baseUrl, urgency }, stop.signal);
      times.push(performance.now());
    }
  })().catch(() => undefined);
  return {
    times,
    async stop() {
      stop.abort();
      await done;
    },
  };
}

/** The order in which requests that wait together have their turns. */
async function orderOf(...requests: readonly (readonly [name: string, urgency: Urgency])[]) {
  const budgets = budgetsOf(100);
  const baseUrl = newHost();
  const order: string[] = [];
  const turns = requests.map(async ([name, urgency]) => {
    await budgets.turn({ account: name.charAt(0), baseUrl, urgency }, never);
    order.push(name);
  });
  await Promise.all(turns);
  return order;
}

/** The largest number of these times in any second, wherever it begins. */
function mostInASecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(...sorted.map((from) => sorted.filter((at) => at >= from && at < from + 1_000).length));
}

describe('the budgets of hosts', () => {
  it('keep two processes within the rate in any second, and give each account its share', async () => {
    const baseUrl = newHost();
    const [one, two] = [budgetsOf(50), budgetsOf(50)];
    // As many accounts in the one as in the other, whose requests come by far more often.
    const spent = [
      ...['a', 'b'].map((account) => spend(one, baseUrl, account, 'change')),
      ...['c', 'c', 'c', 'c', 'd'].map((account) => spend(two, baseUrl, account, 'change')),
    ];
    await expect
      .poll(() => spent.flatMap(({ times }) => times).length, { timeout: 10_000 })
      .toBeGreaterThan(80);
    await Promise.all(spent.map((each) => each.stop()));
    expect(mostInASecond(spent.flatMap(({ times }) => times))).toBeLessThanOrEqual(50);
    const of = (...indexes: number[]) => indexes.flatMap((i) => spent[i]?.times ?? []).length;
    for (const turns of [of(0), of(1), of(2, 3, 4, 5), of(6)]) expect(turns).toBeGreaterThanOrEqual(8);
  });

  it('lose no turns to a late reply but those whose time it has come after', async () => {
    const accounts = Array.from({ length: 8 }, (_, i) => `a${i}`);
    // Every second reply is 40 ms late; the eight turns of a batch last 106 ms.
    await using line = await startSlowLine(Number(new URL(redis.url).port), {
      onCommand: (name) => {
        if (name.startsWith('EVAL'))
          line.change({ delayMs: (line.commands.get(name) ?? 0) % 2 === 0 ? 0 : 20 });
      },
    });
    const distant = shareOf(line.url).connect();
    const budgets = createHostBudgets({ redis: distant, keys, totalRps: 80 });
    const baseUrl = newHost();
    const spent = accounts.map((account) => spend(budgets, baseUrl, account, 'change'));
    const times = () => spent.flatMap((each) => each.times);
    await expect.poll(() => times().length, { timeout: 10_000 }).toBeGreaterThan(160);
    const batches = (line.commands.get('EVALSHA') ?? 0) + (line.commands.get('EVAL') ?? 0);
    await Promise.all(spent.map((each) => each.stop()));
    distant.disconnect();
    expect(times().length / (batches * accounts.length)).toBeGreaterThan(0.65);
    expect(mostInASecond(times())).toBeLessThanOrEqual(80);
  });

  it('let changes go before sweeps over processes, and leave sweeps a share', async () => {
    const baseUrl = newHost();
    const [one, two] = [budgetsOf(100), budgetsOf(100)];
    const sweeps = Array.from({ length: 20 }, (_, i) => spend(one, baseUrl, `a${i}`, 'sweep'));
    await expect.poll(() => sweeps.flatMap(({ times }) => times).length).toBeGreaterThan(20);
    const before = sweeps.flatMap(({ times }) => times).length;
    // More of them than turns are ahead, so that they always wait.
    const changes = Array.from({ length: 60 }, (_, i) => spend(two, baseUrl, `d${i}`, 'change'));
    await expect.poll(() => changes.flatMap(({ times }) => times).length).toBeGreaterThanOrEqual(100);
    const swept = sweeps.flatMap(({ times }) => times).length - before;
    await Promise.all([...sweeps, ...changes].map((each) => each.stop()));
    expect(swept).toBeGreaterThan(0);
    expect(swept).toBeLessThan(30);
  });

  it('go round the accounts, however many requests one has', async () => {
    const accounts = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'];
    const order = await orderOf(...accounts.map((name) => [name, 'change'] as const));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('put changes before sweeps, but for one turn in ten', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `${String.fromCharCode(97 + i)}1`);
    const order = await orderOf(
      ['x1', 'sweep'],
      ['y1', 'sweep'],
      ['z1', 'sweep'],
      ...names.map((name) => [name, 'change'] as const),
    );
    expect(order.flatMap((name, i) => (names.includes(name) ? [] : [i]))).toEqual([9, 19, 22]);
  });

  it('put people first, but not twice in a row while changes wait', async () => {
    const order = await orderOf(
      ['a1', 'change'],
      ['a2', 'change'],
      ['b1', 'person'],
      ['b2', 'person'],
      ['c1', 'person'],
      ['d1', 'sweep'],
    );
    expect(order).toEqual(['b1', 'a1', 'c1', 'a2', 'b2', 'd1']);
  });

  it('are one for each host, and begin anew after a key that cannot be read', async () => {
    const budgets = budgetsOf(1);
    const [first, second] = [newHost(), newHost()];
    await stored.spoilTurns(hostOf(second));
    for (const baseUrl of [first, second])
      await budgets.turn({ account: 'a', baseUrl, urgency: 'change' }, never);
    expect(await stored.turnsExpireInMs(hostOf(second))).toBeGreaterThan(0);
  });

  it('let a request go that is aborted while it waits', async () => {
    const budgets = budgetsOf(1);
    const asker = { account: 'a', baseUrl: newHost(), urgency: 'change' } as const;
    await budgets.turn(asker, never);
    const stop = new AbortController();
    const waiting = budgets.turn(asker, stop.signal);
    expect(budgets.waiting()).toBe(1);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect(budgets.waiting()).toBe(0);
  });

  it('take a request that comes as the last one goes', async () => {
    const budgets = budgetsOf(100);
    const asker = { account: 'a', baseUrl: newHost(), urgency: 'change' } as const;
    for (let i = 0; i < 20; i += 1) await budgets.turn(asker, never);
    expect(budgets.waiting()).toBe(0);
  });

  it('give turns again at once when the clock of Redis was set back', async () => {
    const budgets = budgetsOf(10);
    const asker = { account: 'a', baseUrl: newHost(), urgency: 'change' } as const;
    await stored.takeTurnsUntil(hostOf(asker.baseUrl), Date.now() + 3_600_000);
    await budgets.turn(asker, never);
    expect(await stored.turnsTakenUntil(hostOf(asker.baseUrl))).toBeLessThan(Date.now() + 60_000);
  });

  it('reject as Redis does', async () => {
    const away = redis.connect();
    const budgets = createHostBudgets({ redis: away, keys, totalRps: 10 });
    away.disconnect();
    const turn = budgets.turn({ account: 'a', baseUrl: newHost(), urgency: 'change' }, never);
    await expect(turn).rejects.toThrow('Connection is closed');
  });
});

it.each([
  ['https://Partner.Example.com/v1', 'partner.example.com:443'],
  ['https://partner.example.com:443/v2', 'partner.example.com:443'],
  ['http://partner.example.com/v1', 'partner.example.com:80'],
  ['http://[::1]:4010/v1', '[::1]:4010'],
])('the host of %s is %s', (baseUrl, host) => {
  expect(hostOf(baseUrl)).toBe(host);
});
