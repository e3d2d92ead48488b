import { Counter, type Registry } from 'prom-client';
import { knownStatuses } from '../partner/filing-statuses.ts';
import { createAccountCounts, type AccountCounts } from './gauges/account-counts.ts';
import { rejectedMax } from './gauges/show-gauges.ts';
import type { Named } from './gauges/worst.ts';

/** The counters of this process with a series for each account, and their totals over all accounts. */
export interface AccountCounters {
  /** Counts a change of a filing by the status that it leads to, `removed` or `other`. */
  filingChanged(account: string, status: string): void;
  /** Counts records that are not filings. */
  quarantined(account: string, records: number): void;
  /** The accounts that exist now, and whose series are shown from now on. */
  show(accounts: ReadonlySet<string>, named: Named): void;
  /** The accounts whose rejections have series beside the worst; none where all accounts have series. */
  rejecting(): ReadonlySet<string>;
}

// Maximum number of accounts with a series for records that are not filings, beside those that are named.
const quarantinedMax = 25;
const rejected = ['REJECTED'];

/** Registers the counters; see `AccountCounts` for when a series has which value. */
export function createAccountCounters(registry: Registry): AccountCounters {
  const now = () => performance.now();
  const changes = createAccountCounts(now);
  const records = createAccountCounts(now);
  let shown: Named = 'all';
  const common = (name: string, help: string) => ({
    name: `filing_webhooks_${name}`,
    help,
    registers: [],
  });

  const rejections = () => changes.samples('worst', rejected, rejectedMax);
  registry.registerMetric(
    new Counter({
      ...common('filing_events_total', 'Changes of filings recorded in the log, by the resulting status.'),
      labelNames: ['account', 'status'],
      collect() {
        const found = shown === 'all' ? changes.samples('all', knownStatuses, 0) : rejections();
        this.reset();
        for (const { account, label, value } of found) this.inc({ account, status: label }, value);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      ...common(
        'quarantined_records_total',
        'Records of the partner service that are not filings, or cannot be read, and were left out.',
      ),
      labelNames: ['account'],
      collect() {
        this.reset();
        for (const { account, value } of records.samples(shown, [''], quarantinedMax))
          this.inc({ account }, value);
      },
    }),
  );
  const allChanges = new Counter({
    ...common('all_filing_events_total', 'Changes of filings of all accounts, by the resulting status.'),
    labelNames: ['status'],
  });
  const allRecords = new Counter(
    common(
      'all_quarantined_records_total',
      'Records left out of all accounts, because they are no filings or cannot be read.',
    ),
  );
  for (const total of [allChanges, allRecords]) registry.registerMetric(total);
  // From the start: rate() does not see the first increase of a new counter.
  for (const status of [...knownStatuses, 'removed', 'other']) allChanges.inc({ status }, 0);

  return {
    filingChanged(account, status) {
      changes.add(account, status);
      allChanges.inc({ status });
    },
    quarantined(account, count) {
      records.add(account, '', count);
      allRecords.inc(count);
    },
    show(accounts, named) {
      for (const counts of [changes, records] satisfies AccountCounts[]) counts.keep(accounts);
      shown = named;
    },
    rejecting: () => new Set(shown === 'all' ? [] : rejections().map(({ account }) => account)),
  };
}
