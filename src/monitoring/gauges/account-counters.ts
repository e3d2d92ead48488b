import { Counter, type Registry } from 'prom-client';
import { knownStatuses } from '../../partner/filing-statuses.ts';
import { rejectedMax, worstOf, type Named } from './show-gauges.ts';

/** The counters of this process with a series for each account, and their totals over all accounts. */
export interface AccountCounters {
  /** Counts a change of a filing by the status that it leads to, `removed` or `other`. */
  filingChanged(account: string, status: string): void;
  /** Counts records that are not filings. */
  quarantined(account: string, records: number): void;
  /** The accounts that exist, and whose series are shown from now on. */
  show(accounts: ReadonlySet<string>, named: Named): void;
  /** The accounts whose rejections have series beside the worst; none where all accounts have series. */
  rejecting(): ReadonlySet<string>;
}

// Maximum number of accounts with a series for records that are not filings, where not all are named.
const quarantinedMax = 25;
// Milliseconds for which a series shows 0 before what has made it appear, so that rate() sees that; scrapes
// come more often.
const zeroMs = 120_000;
// Milliseconds after its last addition for which an account is counted that no round has met: it is new, or
// came and went between two rounds.
const unmetMs = 600_000;

interface Series {
  readonly account: string;
  readonly label: string;
  readonly since: number;
  value: number;
  addedAt: number;
}

/**
 * The series of a counter. Where all accounts are named, each has each of `labels` from the start. Else only
 * the `max` that were added to last are kept, with one of `labelsOfWorst`.
 */
function createSeries(
  labels: readonly string[],
  labelsOfWorst: readonly string[],
  max: number,
  now: () => number,
) {
  const all = new Map<string, Series>();
  let named: Named = 'all';
  let met: ReadonlySet<string> = new Set();

  function add(account: string, label: string, by: number): void {
    const key = `${account} ${label}`;
    const series = all.get(key) ?? { account, label, since: now(), value: 0, addedAt: 0 };
    series.value += by;
    series.addedAt = now();
    all.set(key, series);
  }

  return {
    add,
    show(accounts: ReadonlySet<string>, who: Named): void {
      named = who;
      const unmetFrom = now() - unmetMs;
      for (const [key, { account, addedAt }] of all)
        if (!accounts.has(account) && (met.has(account) || addedAt < unmetFrom)) all.delete(key);
      met = accounts;
      if (named === 'all') {
        for (const account of accounts)
          for (const label of labels) if (!all.has(`${account} ${label}`)) add(account, label, 0);
        return;
      }
      const worst = [...all].filter(([, { label, value }]) => value > 0 && labelsOfWorst.includes(label));
      const kept = worstOf(worst, ([, { addedAt }]) => addedAt, max);
      all.clear();
      for (const [key, series] of kept) all.set(key, series);
    },
    /** The series as they are shown now. */
    samples: () =>
      Array.from(all.values(), ({ account, label, value, since }) => {
        const isNew = named === 'worst' && now() - since < zeroMs;
        return { account, label, value: isNew ? 0 : value };
      }),
    accounts: () => new Set(named === 'all' ? [] : Array.from(all.values(), ({ account }) => account)),
  };
}

/** Registers the counters; `now` is in milliseconds, monotonic. */
export function createAccountCounters(registry: Registry, now = () => performance.now()): AccountCounters {
  const changes = createSeries(knownStatuses, ['REJECTED'], rejectedMax, now);
  const records = createSeries([''], [''], quarantinedMax, now);
  const counter = (name: string, help: string, labelNames: readonly string[], collect?: () => void) => {
    const settings = { name: `filing_webhooks_${name}`, help, labelNames, registers: [registry] };
    return new Counter({ ...settings, ...(collect && { collect }) });
  };
  const ofChanges: Counter = counter(
    'filing_events_total',
    'Changes of filings recorded in the log, by the resulting status.',
    ['account', 'status'],
    () => {
      ofChanges.reset();
      for (const { account, label, value } of changes.samples())
        ofChanges.inc({ account, status: label }, value);
    },
  );
  const allChanges = counter(
    'all_filing_events_total',
    'Changes of filings of all accounts, by the resulting status.',
    ['status'],
  );
  const ofRecords: Counter = counter(
    'quarantined_records_total',
    'Records of the partner service that are not filings, or cannot be read, and were left out.',
    ['account'],
    () => {
      ofRecords.reset();
      for (const { account, value } of records.samples()) ofRecords.inc({ account }, value);
    },
  );
  const allRecords = counter(
    'all_quarantined_records_total',
    'Records left out of all accounts, because they are no filings or cannot be read.',
    [],
  );
  // From the start: rate() does not see the first increase of a new counter.
  for (const status of [...knownStatuses, 'removed', 'other']) allChanges.inc({ status }, 0);

  return {
    filingChanged(account, status) {
      changes.add(account, status, 1);
      allChanges.inc({ status });
    },
    quarantined(account, count) {
      records.add(account, '', count);
      allRecords.inc(count);
    },
    show(accounts, named) {
      for (const series of [changes, records]) series.show(accounts, named);
    },
    rejecting: changes.accounts,
  };
}
