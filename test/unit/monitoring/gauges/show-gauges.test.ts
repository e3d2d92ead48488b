import { describe, expect, it, test } from 'vitest';
import type { AccountFacts } from '../../../../src/monitoring/gauges/account-facts.ts';
import { showGauges, whoIsNamed, worstOf } from '../../../../src/monitoring/gauges/show-gauges.ts';
import { createMetrics } from '../../../../src/monitoring/metrics.ts';

const facts = (account: string, known: Partial<AccountFacts>): AccountFacts => ({
  account,
  pollIntervalMs: 15_000,
  health: 'ok',
  lastCompletePollAt: 1,
  counts: {},
  open: 0,
  oldest: new Map(),
  subscriptions: {
    byState: { active: 0, failing: 0, unverified: 0, disabled: 0 },
    lags: new Map(),
    waiting: 0,
    failing: new Map(),
    held: {},
    coversRejections: true,
  },
  certificateEnd: null,
  ...known,
});

const withLags = (account: string, lags: ReadonlyMap<string, number>) =>
  facts(account, { subscriptions: { ...facts(account, {}).subscriptions, lags } });

const metrics = createMetrics();
function show(accounts: readonly AccountFacts[], named: Parameters<typeof showGauges>[2]): void {
  showGauges(metrics, accounts, named, 2);
}

async function shownLags(): Promise<string[]> {
  const { values } = await metrics.subscriptionLag.get();
  return values.map(({ labels, value }) => `${labels['account']} ${labels['subscription']} ${value}`);
}

test.each(['all', 'worst'] as const)(
  'an account whose filings are not known has no number of them, not even 0: %s',
  async (named) => {
    const accounts = [facts('read', { counts: { PENDING: 2, REJECTED: 1 } }), facts('unread', {})];
    show(accounts, { accounts: named, subscriptions: named });
    const { values } = await metrics.filings.get();
    expect(new Set(values.map(({ labels }) => labels['account']))).toEqual(new Set(['read']));
  },
);

test('beside the worst, rejections of the fifty accounts with the most are counted', async () => {
  const many = Array.from({ length: 60 }, (_, i) => facts(`a${i}`, { counts: { REJECTED: i, PAID: 9 } }));
  show(many, { accounts: 'worst', subscriptions: 'worst' });
  const { values } = await metrics.filings.get();
  expect(values).toHaveLength(50);
  expect(values[0]).toMatchObject({ labels: { account: 'a59', status: 'REJECTED' }, value: 59 });
  expect(values.at(-1)?.labels).toEqual({ account: 'a10', status: 'REJECTED' });
});

test('accounts of whose rejections nobody is told are counted, and named, those with the most first', async () => {
  const { subscriptions } = facts('a', {});
  const uncovered = (account: string, rejected: number) =>
    facts(account, {
      counts: { REJECTED: rejected },
      subscriptions: { ...subscriptions, coversRejections: false },
    });
  const accounts = [facts('covered', { counts: { REJECTED: 9 } }), uncovered('few', 0), uncovered('many', 2)];
  show(accounts, { accounts: 'worst', subscriptions: 'worst' });
  const named = async () =>
    (await metrics.rejectionsUncovered.get()).values.map(({ labels }) => labels['account']);
  expect(await named()).toEqual(['many', 'few']);
  show(accounts, { accounts: 'all', subscriptions: 'all' });
  expect(await named()).toEqual(['covered', 'few', 'many']);
  expect((await metrics.accountsUncovered.get()).values).toMatchObject([{ value: 2 }]);
});

describe('lags', () => {
  it('name a thousand subscriptions of an account, and add up the rest', async () => {
    const all = new Map(Array.from({ length: 1_100 }, (_, i) => [`sub_${i}`, i < 200 ? 2 : 7]));
    show([withLags('a', all)], { accounts: 'all', subscriptions: 'all' });
    const shown = await shownLags();
    expect(shown).toHaveLength(1_001);
    expect(shown.at(-1)).toBe('a other 200');
  });

  it('name the hundred largest of many, and the rest of each account where the accounts are named', async () => {
    const accounts = ['a', 'b'].map((name) =>
      withLags(name, new Map(Array.from({ length: 70 }, (_, i) => [`${name}${i}`, i]))),
    );
    show(accounts, { accounts: 'all', subscriptions: 'worst' });
    const shown = await shownLags();
    expect(shown).toHaveLength(102);
    expect(shown.slice(-2)).toEqual(['a other 190', 'b other 190']);
    show(accounts, { accounts: 'worst', subscriptions: 'worst' });
    expect(await shownLags()).toHaveLength(100);
  });
});

describe('METRICS_PER_ACCOUNT', () => {
  it.each([
    ['auto', 100, 1_000, 'all', 'all'],
    ['auto', 101, 0, 'worst', 'worst'],
    ['auto', 1, 1_001, 'all', 'worst'],
    ['true', 10_000, 10_000, 'all', 'all'],
    ['false', 1, 1, 'worst', 'worst'],
  ] as const)('%s with %d accounts and %d subscriptions', (setting, count, own, accounts, subscriptions) => {
    expect(whoIsNamed(setting, count, own)).toEqual({ accounts, subscriptions });
  });
});

describe('the worst', () => {
  const same = (value: number) => value;

  it('come first, as many as are wanted', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => (i * 7_919) % 1_009);
    const expected = values.toSorted((a, b) => b - a).slice(0, 100);
    expect(worstOf(values, same, 100)).toEqual(expected);
  });

  it('leave out what is not bad, and what has no number', () => {
    expect(worstOf([0, 3, -1, Number.NaN, 2], same, 10)).toEqual([3, 2]);
  });

  it('are the first ones where many are as bad', () => {
    const many = Array.from({ length: 50 }, (_, i) => ({ i }));
    expect(worstOf(many, () => Number.MAX_VALUE, 3)).toEqual([{ i: 0 }, { i: 1 }, { i: 2 }]);
  });
});

test('subscriptions that wait are counted over all accounts by every reason, also those of none', async () => {
  const { subscriptions } = facts('a', {});
  const waiting = (account: string, held: AccountFacts['subscriptions']['held']) =>
    facts(account, { subscriptions: { ...subscriptions, held } });
  show([waiting('a', { rate: 2, proxy: 1 }), waiting('b', { rate: 1 })], {
    accounts: 'all',
    subscriptions: 'all',
  });
  const { values } = await metrics.waitingSubscriptions.get();
  expect(Object.fromEntries(values.map(({ labels, value }) => [labels['reason'], value]))).toEqual({
    paused: 0,
    rate: 3,
    blocked: 0,
    unverified: 0,
    proxy: 1,
    expired: 0,
    disabled: 0,
  });
});
