import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHostLookup } from '../../../src/names/host-lookup.ts';
import { createLooks, type LookReport, type LooksDeps } from '../../../src/polling/looks.ts';
import { createPartnerConnections } from '../../../src/polling/partner-connections.ts';
import type { PollOutcome } from '../../../src/polling/poll-outcome.ts';
import { noMarks, type PollingMarks } from '../../../src/polling/store/marks.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';

let partner: HostilePartner;
beforeEach(async () => {
  partner = await startHostilePartner([
    ...Array.from({ length: 3 }, (_, i) => partnerRow(`r${i}`, 'REJECTED')),
    ...Array.from({ length: 200 }, (_, i) => partnerRow(`f${i}`, 'PENDING')),
  ]);
});
afterEach(() => partner[Symbol.asyncDispose]());

const account = {
  account: 'acme',
  incarnation: 'one',
  pollIntervalMs: 3_600_000,
  sweepIntervalMs: 3_600_000,
  stalledAfter: null,
  due: null,
  dueWarnings: null,
  createdAt: 1,
};
const complete: PollOutcome = { kind: 'complete', mode: 'delta', events: 0, unread: 0 };
const counted = { baselined: true, lastPollAt: 5, countedAt: 5 };

/** The looks of a process at one account, and what comes of them. */
function rig(deps: Partial<LooksDeps> = {}, limits: { readonly maxRps?: number } = {}) {
  const clock = { now: () => Date.now(), synchronise: async () => undefined, steadySince: () => 0 };
  const partners = createPartnerConnections({
    lookup: createHostLookup(),
    clock,
    random: Math.random,
    partner: { timeoutMs: 2_000, maxRps: 1_000, concurrency: 2, ...limits },
    hostBudgets: null,
    onRequest: () => undefined,
  });
  const connection = partners.of({
    ...account,
    baseUrl: partner.baseUrl,
    partnerKey: partner.key,
  } as Parameters<typeof partners.of>[0]);
  const polls: string[] = [];
  const reports: LookReport[] = [];
  const errors: Error[] = [];
  const looks = createLooks({
    lookMs: 20,
    snapshot: { counts: async () => ({ REJECTED: 3, PENDING: 200 }) },
    isHostBusy: () => false,
    pollNow: async (name) => void polls.push(name),
    onLook: (report) => void reports.push(report),
    onError: (error) => void errors.push(error),
    ...deps,
  });
  /** A poll that has ended like this, with its requests before. */
  async function poll({
    outcome = complete,
    marks = counted,
    asked = false,
    read = async () => undefined,
    pollIntervalMs = account.pollIntervalMs,
    name = account.account,
  }: {
    readonly outcome?: PollOutcome;
    readonly marks?: Partial<PollingMarks>;
    readonly asked?: boolean;
    readonly read?: (client: typeof connection.client) => Promise<unknown>;
    readonly pollIntervalMs?: number;
    readonly name?: string;
  } = {}) {
    const watched = looks.poll({ ...account, account: name, pollIntervalMs }, connection);
    await read(watched.watching(connection.client));
    watched.ended({ outcome, marks: { ...noMarks, ...marks } }, asked);
  }
  const looked = async (times: number) => {
    const before = reports.length;
    await expect.poll(() => reports.length - before, { interval: 5 }).toBeGreaterThanOrEqual(times);
  };
  return { looks, poll, polls, reports, errors, looked, [Symbol.dispose]: () => looks.close() };
}

/** Resolves when looks at a healthy account would have been made several times. */
async function meanwhile(lookMs = 20) {
  using other = rig({ lookMs });
  // Nothing to compare with: the first look is no alarm either.
  await other.poll({ marks: { ...counted, countedAt: 4 } });
  await other.looked(5);
}

const readAll = (client: { listFilings: (...args: never[]) => unknown }) =>
  (client.listFilings as (query: object, signal: AbortSignal) => Promise<unknown>)(
    { offset: 0, limit: 100 },
    new AbortController().signal,
  );

describe('between two polls', () => {
  it('asks for one REJECTED filing, and for no poll while nothing changes', async () => {
    using at = rig();
    await at.poll();
    await at.looked(5);
    expect(at.polls).toEqual([]);
    expect(
      new Set(partner.requests.map(({ status, limit, offset }) => `${status} ${limit} ${offset}`)),
    ).toEqual(new Set(['REJECTED 1 0']));
  });

  it('asks for a poll once when another filing is REJECTED, and looks on after it', async () => {
    using at = rig();
    await at.poll();
    await at.looked(2);
    partner.put('f7', { status: 'REJECTED' });
    await expect.poll(() => at.polls).toEqual(['acme']);
    const before = at.reports.length;
    await meanwhile();
    expect(at.reports.length).toBe(before);
    await at.poll({ asked: true, outcome: { ...complete, events: 1 } });
    await at.looked(1);
  });

  it('notices with the first look what the poll did not see', async () => {
    using at = rig({ snapshot: { counts: async () => ({ REJECTED: 2 }) } });
    await at.poll();
    await expect.poll(() => at.polls).toEqual(['acme']);
    expect(at.reports).toEqual([{ account: 'acme', change: 'total' }]);
  });

  it('compares looks alone where the counts of the service do not agree with what is known', async () => {
    using at = rig({ snapshot: { counts: async () => ({ REJECTED: 2 }) } });
    const doubted = { ...counted, countedAt: 4 };
    await at.poll({ marks: doubted });
    await at.looked(3);
    await at.poll({ marks: doubted });
    partner.put('f7', { status: 'REJECTED' });
    await expect.poll(() => at.polls).toEqual(['acme']);
  });

  it('looks at the whole list where that is one page, and notices every change', async () => {
    partner.rows = partner.rows.slice(0, 50);
    using at = rig();
    await at.poll({ read: readAll });
    await at.looked(3);
    expect(at.polls).toEqual([]);
    expect(partner.requests.every(({ status, limit }) => status === null && limit === 100)).toBe(true);
    partner.put('f7', { status: 'PAID' });
    await expect.poll(() => at.polls).toEqual(['acme']);
  });

  it('believes only the count once the order of the list has proved to mean nothing', async () => {
    let turn = 0;
    partner.order = (rows) => [...rows.slice((turn += 1) % 3), ...rows];
    using at = rig();
    await at.poll();
    await expect.poll(() => at.polls).toEqual(['acme']);
    await at.poll({ asked: true });
    await at.looked(6);
    expect(at.polls).toEqual(['acme']);
    partner.put('f7', { status: 'REJECTED' });
    await expect.poll(() => at.polls).toEqual(['acme', 'acme']);
  });

  it('looks ever more rarely while its alarms are in vain', async () => {
    let total = 3;
    partner.misbehave = () => ({ edit: (page) => ({ ...page, total: (total += 1) }) });
    using at = rig();
    const requests = () => partner.requests.length;
    const took = [];
    for (let alarm = 1; alarm <= 4; alarm += 1) {
      const [startedAt, before] = [performance.now(), requests()];
      await at.poll({ asked: true });
      await expect.poll(() => at.polls.length, { interval: 2 }).toBe(alarm);
      expect(requests() - before).toBe(1);
      took.push(performance.now() - startedAt);
    }
    // The fourth came after seven others that were left out.
    expect(took[3]).toBeGreaterThan(8 * 20);
  });
});

describe('no look', () => {
  const doubt = { reason: 'flood', known: 1, unknown: 1000 };
  it.each<[string, Parameters<ReturnType<typeof rig>['poll']>[0]]>([
    ['while the account backs off', { outcome: { kind: 'backing_off' } }],
    ['after a poll that failed', { outcome: { kind: 'failed', reason: 'auth', message: '', retryInMs: 1 } }],
    ['after a poll that was incomplete', { outcome: { ...complete, kind: 'incomplete', message: '' } }],
    [
      'while the account is doubted',
      { outcome: { ...complete, kind: 'doubtful', doubt: doubt as never, message: '' } },
    ],
    ['before the baseline is complete', { marks: { ...counted, baselined: false } }],
    ['while a sweep gives the account its baseline', { outcome: { kind: 'left_to_sweep' } }],
    ['where polls come as often', { pollIntervalMs: 20 }],
  ])('%s', async (_, ended) => {
    using at = rig();
    await at.poll(ended);
    await meanwhile();
    expect(at.reports).toEqual([]);
  });

  it.each(['poll', 'stop', 'close'] as const)('after %s', async (end) => {
    using at = rig();
    await at.poll();
    await at.looked(1);
    if (end === 'poll') await at.poll({ outcome: { kind: 'backing_off' } });
    if (end === 'stop') at.looks.stop('acme');
    if (end === 'close') at.looks.close();
    const before = at.reports.length;
    await meanwhile();
    expect(at.reports.length).toBe(before);
    if (end !== 'close') return;
    await at.poll();
    await meanwhile();
    expect(at.reports.length).toBe(before);
  });

  it('while requests wait for their turn at the host', async () => {
    let isBusy = true;
    using at = rig({ isHostBusy: () => isBusy });
    await at.poll();
    await meanwhile();
    expect(at.reports).toEqual([]);
    isBusy = false;
    await at.looked(1);
  });

  it('after one that failed, until the next poll', async () => {
    partner.misbehave = () => ({ status: 500 });
    using at = rig();
    await at.poll();
    await at.looked(1);
    partner.misbehave = () => undefined;
    await meanwhile();
    expect(at.reports).toMatchObject([{ change: null, failure: expect.stringContaining('500') }]);
    expect(at.errors).toEqual([]);
    await at.poll();
    await at.looked(1);
  });
});

it('reports a poll that could not be asked for, and ends', async () => {
  using at = rig({
    snapshot: { counts: async () => ({ REJECTED: 2 }) },
    pollNow: () => Promise.reject(new Error('Redis is away')),
  });
  await at.poll();
  await expect.poll(() => at.errors.map(({ message }) => message)).toEqual(['Redis is away']);
});

it('keeps within the budget of the account', async () => {
  const maxRps = 5;
  const startedAt: number[] = [];
  partner.misbehave = () => void startedAt.push(performance.now());
  using at = rig({ lookMs: 1 }, { maxRps });
  await at.poll();
  await at.looked(12);
  const gaps = startedAt.slice(maxRps).map((start, i) => start - (startedAt[i] ?? 0));
  expect(gaps.length).toBeGreaterThan(maxRps);
  expect(Math.min(...gaps)).toBeGreaterThan(950);
});

it('looks once a second at most where the interval is not set', async () => {
  using at = rig({ lookMs: null });
  await at.poll({ pollIntervalMs: 1_000 });
  await meanwhile(150);
  expect(at.reports).toEqual([]);
});

it('looks at fewer accounts than would take more than fifty looks a second', async () => {
  using at = rig();
  for (let i = 0; i < 20; i += 1) await at.poll({ name: `a${i}`, pollIntervalMs: 100 });
  const seen = () => [...new Set(at.reports.map((report) => report.account))].toSorted();
  // Each of five has a look in a tenth of a second.
  await expect.poll(seen).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  await meanwhile();
  expect(seen()).toHaveLength(5);
});
