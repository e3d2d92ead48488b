import { expect, test } from 'vitest';
import type { AccountFacts } from '../../../../src/monitoring/gauges/account-facts.ts';
import { showGauges } from '../../../../src/monitoring/gauges/show-gauges.ts';
import { createMetrics } from '../../../../src/monitoring/metrics.ts';
import { noMarks } from '../../../../src/polling/store/marks.ts';

const facts = (
  account: string,
  lastCompletePollAt: number,
  counts: Record<string, number>,
): AccountFacts => ({
  account,
  pollIntervalMs: 15_000,
  createdAt: 1,
  marks: { ...noMarks, baselined: lastCompletePollAt > 0, lastCompletePollAt },
  counts,
  oldest: new Map(),
  subscriptions: null,
  certificateEnd: null,
});

test.each(['all', 'worst'] as const)(
  'an account without a complete poll has no number of filings, not even 0: %s',
  async (named) => {
    const metrics = createMetrics();
    const accounts = [
      facts('read', 1, { PENDING: 2, REJECTED: 1 }),
      facts('unread', 0, { REJECTED: 0, PAID: 3 }),
    ];
    const rejecting = new Set(['read', 'unread']);
    showGauges(metrics, accounts, { accounts: named, subscriptions: named }, { now: 2, rejecting });
    const { values } = await metrics.filings.get();
    expect(new Set(values.map(({ labels }) => labels['account']))).toEqual(new Set(['read']));
    const totals = await metrics.allFilings.get();
    expect(totals.values.find(({ labels }) => labels['status'] === 'PAID')?.value ?? 0).toBe(0);
  },
);
