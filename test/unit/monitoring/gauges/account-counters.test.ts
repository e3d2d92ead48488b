import { Registry } from 'prom-client';
import { beforeEach, expect, test } from 'vitest';
import { createAccountCounters } from '../../../../src/monitoring/gauges/account-counters.ts';

let registry: Registry;
let counters: ReturnType<typeof createAccountCounters>;
beforeEach(() => {
  registry = new Registry();
  counters = createAccountCounters(registry);
});

/** The series of an account's changes, as `<account> <status> <value>`. */
async function series(): Promise<string[]> {
  const text = await registry.getSingleMetricAsString('filing_webhooks_filing_events_total');
  const samples = text.matchAll(/\{account="(.*?)",status="(.*?)"\} (\d+)/g);
  return Array.from(samples, ([, account, status, value]) => `${account} ${status} ${value}`).toSorted();
}

test('where all are named, each account has each status from the first scrape on', async () => {
  counters.filingChanged('a', 'REJECTED');
  counters.filingChanged('a', 'removed');
  counters.show(new Set(['a', 'b']), 'all');
  const shown = await series();
  expect(shown).toHaveLength(11);
  expect(shown).toEqual(expect.arrayContaining(['a PAID 0', 'a REJECTED 1', 'a removed 1', 'b PAID 0']));
});

test('beside the worst, no account has series, and the totals go on', async () => {
  const accounts = new Set(['a', 'b']);
  counters.filingChanged('a', 'REJECTED');
  counters.show(accounts, 'all');
  counters.show(accounts, 'worst');
  counters.filingChanged('b', 'REJECTED');
  expect(await series()).toEqual([]);
  expect(await registry.metrics()).toContain('filing_webhooks_all_filing_events_total{status="REJECTED"} 2');
  counters.show(accounts, 'all');
  expect(await series()).toContain('a REJECTED 0');
});

test('the series of an account go with it', async () => {
  counters.show(new Set(['a', 'b']), 'all');
  counters.filingChanged('a', 'PAID');
  counters.show(new Set(['b']), 'all');
  expect(await series()).toEqual(expect.not.arrayContaining(['a PAID 1', 'a PAID 0']));
});

test('an account that no round has met keeps its series until the second round without it', async () => {
  counters.filingChanged('new', 'PAID');
  counters.show(new Set(), 'all');
  expect(await series()).toEqual(['new PAID 1']);
  counters.show(new Set(), 'all');
  expect(await series()).toEqual([]);
});

test('records that are no filings count for their account and in all', async () => {
  counters.quarantined('a', 3);
  const text = await registry.metrics();
  expect(text).toContain('filing_webhooks_quarantined_records_total{account="a"} 3');
  expect(text).toContain('filing_webhooks_all_quarantined_records_total 3');
});
