import { Registry } from 'prom-client';
import { beforeEach, expect, test } from 'vitest';
import { createAccountCounters } from '../../../../src/monitoring/gauges/account-counters.ts';

let now = 0;
let registry: Registry;
let counters: ReturnType<typeof createAccountCounters>;
beforeEach(() => {
  now = 1;
  registry = new Registry();
  counters = createAccountCounters(registry, () => now);
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
  expect(counters.rejecting()).toEqual(new Set());
});

test('beside the worst, rejections have series, which begin at 0 and have their count after two minutes', async () => {
  const accounts = new Set(['a', 'b']);
  counters.show(accounts, 'worst');
  for (const status of ['REJECTED', 'REJECTED', 'PAID']) counters.filingChanged('a', status);
  counters.show(accounts, 'worst');
  expect(await series()).toEqual(['a REJECTED 0']);
  expect(counters.rejecting()).toEqual(new Set(['a']));
  now += 119_999;
  expect(await series()).toEqual(['a REJECTED 0']);
  now += 1;
  expect(await series()).toEqual(['a REJECTED 2']);
});

test('beside the worst, the fifty accounts that were rejected last have series', async () => {
  const names = Array.from({ length: 51 }, (_, i) => `a${i}`);
  for (const name of names) {
    now += 1;
    counters.filingChanged(name, 'REJECTED');
  }
  counters.show(new Set(names), 'worst');
  const shown = await series();
  expect(shown).toHaveLength(50);
  expect(shown).not.toContain('a0 REJECTED 0');
});

test('the series of an account go with it', async () => {
  counters.show(new Set(['a', 'b']), 'all');
  counters.filingChanged('a', 'PAID');
  counters.show(new Set(['b']), 'all');
  expect(await series()).toEqual(expect.not.arrayContaining(['a PAID 1', 'a PAID 0']));
});

test('an account that was gone before it was known keeps its series for ten minutes', async () => {
  counters.filingChanged('gone', 'PAID');
  now += 599_999;
  counters.filingChanged('new', 'PAID');
  counters.show(new Set(), 'all');
  expect(await series()).toEqual(['gone PAID 1', 'new PAID 1']);
  now += 2;
  counters.show(new Set(), 'all');
  expect(await series()).toEqual(['new PAID 1']);
});

test('records that are no filings count for their account and in all', async () => {
  counters.quarantined('a', 3);
  const text = await registry.metrics();
  expect(text).toContain('filing_webhooks_quarantined_records_total{account="a"} 3');
  expect(text).toContain('filing_webhooks_all_quarantined_records_total 3');
});
