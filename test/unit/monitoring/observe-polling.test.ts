import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { observePolling } from '../../../src/monitoring/observe-polling.ts';
import type { PollReport } from '../../../src/polling/poll-reports.ts';

const metrics = createMetrics();
const lines: Record<string, unknown>[] = [];
const calls: string[] = [];
const observer = observePolling({
  logger: pino(
    { base: null, timestamp: false, level: 'debug' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  ),
  metrics,
  tracing: {
    async poll(account, run) {
      calls.push(`span of ${account}`);
      return run();
    },
    pollReported: ({ outcome }) => void calls.push(`traced ${outcome.kind}`),
    eventsRecorded: (account, events) => void calls.push(`traced ${events.length} of ${account}`),
  },
  tally: { gotOn: () => void calls.push('got on') },
  filingBytesMax: 1_000,
});
beforeEach(() => {
  lines.length = 0;
  calls.length = 0;
  metrics.registry.resetMetrics();
});

const text = (name: string) => metrics.registry.getSingleMetricAsString(`filing_webhooks_${name}`);
const reported = (outcome: PollReport['outcome']): PollReport => ({
  account: 'acme',
  outcome,
  durationMs: 1_499.6,
  requests: 4,
});

test('a poll that was not made leaves neither line nor metric', async () => {
  observer.onPoll(reported({ kind: 'no_place' }));
  expect(lines).toEqual([]);
  expect(await text('poll_duration_seconds')).not.toContain('_count{');
});

test('a failure of the partner service is a warning, with its duration, and traced', async () => {
  const reason = 'unavailable';
  const outcome = { kind: 'failed', reason, detail: 'no answer', retryAt: 5 } as const;
  observer.onPoll(reported(outcome as unknown as PollReport['outcome']));
  expect(lines).toEqual([
    { level: 40, account: 'acme', ...outcome, durationMs: 1_500, requests: 4, msg: 'poll.failed' },
  ]);
  expect(await text('poll_duration_seconds')).toContain('_count{mode="none",outcome="failed"} 1');
  expect(calls).toEqual(['traced failed']);
});

test('a poll is a line at info if it found events or left something unread', () => {
  const quiet = { kind: 'complete', mode: 'delta', events: 0, unread: 0 } as const;
  for (const found of [{ events: 1 }, { unread: 1 }, {}]) observer.onPoll(reported({ ...quiet, ...found }));
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'poll.completed'],
    [30, 'poll.completed'],
    [20, 'poll.completed'],
  ]);
});

test('events are counted by type and traced; one without its filing is also a line', async () => {
  const event = { id: 'evt_1', type: 'filing.paid', filingId: 'f', state: 'TX', status: '', position: 1 };
  observer.onEvents('acme', [event, { ...event, id: 'evt_2', omittedBytes: 4_000 }]);
  const expected = { account: 'acme', filing: 'f', event: 'evt_2', bytes: 4_000, max: 1_000 };
  expect(lines).toEqual([{ level: 40, ...expected, msg: 'poll.too_large' }]);
  expect(await text('events_total')).toContain('{type="filing.paid"} 2');
  expect(await text('filings_too_large_total')).toContain('filings_too_large_total 1');
  expect(calls).toEqual(['traced 2 of acme']);
});

test('requests and records that are no filings are counted', async () => {
  observer.onRequest('filings', '200');
  observer.onQuarantined('acme', 3, ['f_1']);
  expect(calls).toEqual(['got on']);
  expect(await text('partner_requests_total')).toContain('{endpoint="filings",code="200"} 1');
  expect(await text('quarantined_records_total')).toContain('{account="acme"} 3');
  expect(lines).toMatchObject([{ level: 40, records: 3, examples: ['f_1'], msg: 'poll.quarantined' }]);
});

test('a poll runs within its span and gives what it gave', async () => {
  const poll = observer.traced(async () => 'no_place');
  const job = { account: 'acme', mode: 'delta', asked: false } as const;
  expect(await poll(job, new AbortController().signal)).toBe('no_place');
  expect(calls).toEqual(['span of acme']);
});

test('changes of filings are counted by account and the status that they lead to', async () => {
  const event = {
    id: 'evt_1',
    type: 'filing.created',
    filingId: 'f',
    state: '',
    status: 'REJECTED',
    position: 1,
  };
  observer.onEvents('umbra', [
    event,
    { ...event, type: 'filing.rejected' },
    { ...event, type: 'filing.status_changed', status: 'ON_HOLD' },
    { ...event, type: 'filing.removed' },
    { ...event, type: 'filing.stalled' },
    { ...event, type: 'filing.resubmitted' },
    { ...event, type: 'account.stale', filingId: '', status: '' },
  ]);
  const counted = (await text('filing_events_total')).split('\n').filter((line) => line.includes('umbra'));
  expect(counted).toEqual([
    'filing_webhooks_filing_events_total{account="umbra",status="REJECTED"} 2',
    'filing_webhooks_filing_events_total{account="umbra",status="other"} 1',
    'filing_webhooks_filing_events_total{account="umbra",status="removed"} 1',
  ]);
});
