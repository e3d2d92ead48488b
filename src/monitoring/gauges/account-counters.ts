import type { Registry } from 'prom-client';
import { knownStatuses } from '../../partner/filing-statuses.ts';
import { defineMetrics } from '../define-metrics.ts';
import type { Named } from './show-gauges.ts';

const statuses = [...knownStatuses, 'removed', 'other'];

/**
 * Registers the counters of this process with a series for each account while all accounts are named, and
 * their totals over all accounts.
 */
export function createAccountCounters(registry: Registry) {
  const { counter } = defineMetrics(registry);
  const changes = counter(
    'filing_events_total',
    'Changes of filings recorded in the log, by the resulting status.',
    ['account', 'status'],
  );
  const allChanges = counter(
    'all_filing_events_total',
    'Changes of filings of all accounts, by the resulting status.',
    ['status'],
  );
  const records = counter(
    'quarantined_records_total',
    'Records of the partner service that are not filings, or cannot be read, and were left out.',
    ['account'],
  );
  const allRecords = counter(
    'all_quarantined_records_total',
    'Records left out of all accounts, because they are no filings or cannot be read.',
  );
  let isNamed = true;
  const withSeries = new Set<string>();
  let seen: ReadonlySet<string> = new Set();
  // From the start: rate() does not see the first increase of a new counter.
  for (const status of statuses) allChanges.inc({ status }, 0);

  function end(account: string): void {
    withSeries.delete(account);
    for (const status of statuses) changes.remove({ account, status });
    records.remove({ account });
  }

  return {
    /** Counts a change of a filing by the status that it leads to, `removed` or `other`. */
    filingChanged(account: string, status: string): void {
      allChanges.inc({ status });
      if (!isNamed) return;
      withSeries.add(account);
      changes.inc({ account, status });
    },
    /** Counts records that are not filings. */
    quarantined(account: string, count: number): void {
      allRecords.inc(count);
      if (!isNamed) return;
      withSeries.add(account);
      records.inc({ account }, count);
    },
    /**
     * Takes the accounts of a round. Series of other accounts end: now if an earlier round had them, else
     * with the next round, because they may be new.
     */
    show(accounts: ReadonlySet<string>, named: Named): void {
      isNamed = named === 'all';
      for (const account of withSeries)
        if (!isNamed || (!accounts.has(account) && seen.has(account))) end(account);
      if (isNamed)
        for (const account of accounts) {
          withSeries.add(account);
          for (const status of knownStatuses) changes.inc({ account, status }, 0);
          records.inc({ account }, 0);
        }
      seen = new Set([...accounts, ...withSeries]);
    },
  };
}
