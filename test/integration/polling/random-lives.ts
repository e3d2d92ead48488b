import * as fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import type { FilingState } from '../../../src/filings/detection/filing-state.ts';
import type { PollMode } from '../../../src/polling/schedule/plan.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type Misbehaviour,
  type RawPage,
} from '../../support/partner/hostile-partner.ts';
import { keepHistory, type PartnerHistory } from '../../support/partner/partner-history.ts';
import { rememberKeys } from '../../support/redis/set-back.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const statuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED', 'ON_HOLD'];
const status = fc.constantFrom(...statuses);
const which = fc.nat(20);

type Move = (history: PartnerHistory) => void;

/** A change at the partner service, with a text for counter-examples. */
const move: fc.Arbitrary<{ text: string; make: Move }> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(which, status)
      .map(([n, to]) => ({ text: `change ${n} to ${to}`, make: (h: PartnerHistory) => h.change(n, to) })),
  },
  {
    weight: 2,
    arbitrary: status.map((to) => ({ text: `birth ${to}`, make: (h: PartnerHistory) => h.birth(to) })),
  },
  { weight: 1, arbitrary: which.map((n) => ({ text: `edit ${n}`, make: (h: PartnerHistory) => h.edit(n) })) },
  {
    weight: 1,
    arbitrary: which.map((n) => ({ text: `remove ${n}`, make: (h: PartnerHistory) => h.remove(n) })),
  },
  {
    weight: 1,
    arbitrary: which.map((n) => ({ text: `bring back ${n}`, make: (h: PartnerHistory) => h.bringBack(n) })),
  },
);

const faults = {
  500: { status: 500, body: '<html>' },
  429: { status: 429, headers: { 'retry-after': '1' } },
  404: { status: 404 },
  html: { body: '<html>' },
  null: { body: 'null' },
  list: { body: '[]' },
  cut: { cutAfter: 20 },
  reset: { destroy: true },
  empty: { edit: (page) => ({ ...page, items: [] }) },
  bad: { edit: (page) => ({ ...page, items: [...(page.items as unknown[]), { id: 7 }] }) },
  torn: {
    edit: (page) => {
      const items = page.items as object[];
      return { ...page, items: [...items, ...items.slice(0, 1).map((row) => ({ ...row, status: 'TORN' }))] };
    },
  },
} as const satisfies Record<string, Misbehaviour>;

/** What happens at the n-th request of a poll. */
const incident = fc.record({
  at: fc.integer({ min: 1, max: 12 }),
  what: fc.oneof(
    { weight: 3, arbitrary: move },
    { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[])) },
    { weight: 1, arbitrary: fc.constant('abort' as const) },
  ),
});

const poll = fc.record({
  mode: fc.constantFrom<PollMode>('delta', 'delta', 'sweep'),
  incidents: fc.array(incident, { maxLength: 3 }),
  /** A second poll at the same time; this one's n-th request is answered only when the other has ended. */
  overtakenAt: fc.option(fc.integer({ min: 1, max: 6 }), { nil: null, freq: 4 }),
});

const step = fc.oneof(
  { weight: 5, arbitrary: move.map((made) => ({ move: made })) },
  { weight: 4, arbitrary: poll.map((made) => ({ poll: made })) },
  { weight: 1, arbitrary: fc.constantFrom({ store: 'save' as const }, { store: 'restore' as const }) },
);

const world = fc.record({
  filings: fc.array(status, { maxLength: 10 }),
  clamp: fc.constantFrom(2, 3, 4, 100),
  silentClamp: fc.boolean(),
  order: fc.constantFrom('newest first', 'newest first', 'oldest first', 'oldest first', 'none'),
  total: fc.constantFrom<number | 'text' | 'missing'>(0, 0, 0, 0, 0, 5, -3, 'text', 'missing'),
  /** As long as the baseline takes, the whole list ends here; null: where it ends. */
  shortAt: fc.option(fc.nat(6), { nil: null, freq: 4 }),
  /** Accounts of this size are polled by delta. */
  largeFrom: fc.constantFrom(0, 6, 1000),
  seed: fc.nat(),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

// It was born, read by a poll and removed before the sweep that overtook that poll, which did not know it.
const bornDuringASweep: [World, Step[]] = [
  {
    filings: [],
    clamp: 2,
    silentClamp: false,
    order: 'newest first',
    total: 0,
    shortAt: null,
    largeFrom: 0,
    seed: 0,
  },
  [
    { move: { text: 'birth UNPAID', make: (h) => h.birth('UNPAID') } },
    {
      poll: {
        mode: 'delta',
        incidents: [{ at: 2, what: { text: 'remove 0', make: (h: PartnerHistory) => h.remove(0) } }],
        overtakenAt: 4,
      },
    },
    { poll: { mode: 'delta', incidents: [], overtakenAt: null } },
  ],
];

/** Which lives: PROPERTY_SEED and PROPERTY_PATH repeat those of a run that failed. */
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const path = process.env['PROPERTY_PATH'] ?? '';

/**
 * Lives so many random lives (`PROPERTY_RUNS` wins), none of which begins later than `PROPERTY_MS`
 * milliseconds after the first; expects at least `least` of them. One call a file.
 */
export async function expectTruthThrough(usualRuns: number, least: number): Promise<void> {
  // Names the run for PROPERTY_SEED.
  process.stderr.write(`random lives: PROPERTY_SEED=${seed}\n`);
  const numRuns = Number(process.env['PROPERTY_RUNS'] ?? usualRuns);
  const lastStart = performance.now() + Number(process.env['PROPERTY_MS'] ?? Infinity);
  const steps = fc.array(step, { minLength: 3, maxLength: 16 });
  const property = fc.asyncProperty(world, steps, async (given, taken) => {
    if (performance.now() < lastStart) await live(given, taken);
  });
  await fc.assert(property, { seed, path, numRuns, examples: path === '' ? [bornDuringASweep] : [] });
  process.stderr.write(`random lives: ${lives} in all\n`);
  expect(lives).toBeGreaterThanOrEqual(path === '' ? Math.min(least, numRuns) : 1);
}

let lives = 0;

async function live(given: World, steps: readonly Step[]): Promise<void> {
  lives += 1;
  await using partner = await startHostilePartner(given.filings.map((to, i) => partnerRow(`f${i}`, to)));
  misshape(partner, given);
  const prefix = `${redis.prefix}-${lives}-`;
  const options = { largeFrom: given.largeFrom, pollIntervalMs: 1, retries: false };
  let watched = await watchAccount(client, prefix, partner, options);
  const { clock } = watched;
  const history = keepHistory(partner, clock.now);
  const told = new Map<string, SeenEvent>();

  const baselineFrom = await takeBaseline(watched, partner, given);
  expect(await watched.events(), 'events of the baseline').toEqual([]);
  const books = { history, told, baselineFrom, restored: false };
  let setBack = await rememberKeys(client, `${prefix}:`);

  for (const each of steps) {
    if ('move' in each) each.move.make(history);
    if ('poll' in each && isQuiet(each.poll)) await checkTimely(watched, partner, given, each.poll.mode);
    else if ('poll' in each && !(await pollAmidst(watched, partner, history, each.poll)))
      watched = await watchAccount(client, prefix, partner, { ...options, clock });
    if ('store' in each && each.store === 'save') setBack = await rememberKeys(client, `${prefix}:`);
    if ('store' in each && each.store === 'restore') {
      await check(watched, books);
      await setBack();
      books.restored = true;
    }
  }
  partner.misbehave = () => undefined;
  shapeWell(partner);
  for (let sweeps = 0; sweeps < 2; sweeps += 1) {
    await nextMillisecond(watched);
    expect((await watched.poll('sweep')).kind).toBe('complete');
  }
  await check(watched, books);
  await checkConvergence(watched, partner, prefix);
}

// Polls are told apart by the millisecond in which they begin.
async function nextMillisecond({ clock }: WatchedAccount): Promise<void> {
  const former = clock.now();
  while (clock.now() === former) await new Promise(setImmediate);
}

function misshape(partner: HostilePartner, { clamp, silentClamp, order, total, seed: start }: World): void {
  let state = start;
  const random = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) / 2 ** 32;
  };
  partner.clamp = clamp;
  partner.silentClamp = silentClamp;
  if (order === 'oldest first') partner.order = (rows) => rows.toReversed();
  if (order === 'none')
    partner.order = (rows) =>
      rows
        .map((row) => ({ row, at: random() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ row }) => row);
  partner.misbehave = () => ({
    edit: ({ total: real, ...page }) =>
      total === 'missing' ? page : { ...page, total: mistaken(Number(real), total, clamp) },
  });
}

// A total that is too low and says just what the pages so far hold cannot be told from the end of the list.
function mistaken(real: number, total: number | 'text' | 'missing', clamp: number): unknown {
  if (typeof total !== 'number') return String(real);
  const said = Math.max(0, real + total);
  return total < 0 && said % clamp === 0 ? 0 : said;
}

function shapeWell(partner: HostilePartner): void {
  partner.order = (rows) => rows;
}

async function takeBaseline(watched: WatchedAccount, partner: HostilePartner, given: World): Promise<number> {
  const honest = partner.misbehave;
  if (isShort(given)) partner.misbehave = (request) => cutShort(honest(request) ?? {}, request, given);
  for (let polls = 0; polls < 80; polls += 1) {
    const from = watched.clock.now();
    await watched.poll();
    if (!(await watched.polling.read(watched.account)).baselined) continue;
    partner.misbehave = honest;
    // The list is mended before anything else happens.
    if (isShort(given)) await watched.poll('sweep');
    return from;
  }
  throw new Error('the baseline does not end');
}

// Without a count, or with one that is too low, nobody can know that more was there.
function isShort({ shortAt, total, order }: World): boolean {
  return shortAt !== null && order !== 'none' && (total === 0 || total === 5 || total === 'text');
}

function cutShort(odd: Misbehaviour, { offset }: { offset: number }, { shortAt }: World): Misbehaviour {
  return {
    ...odd,
    edit(page) {
      const honest = (odd.edit?.(page) ?? page) as RawPage;
      const items = (honest.items as unknown[]).slice(0, Math.max(0, (shortAt ?? 0) - offset));
      return { ...honest, items };
    },
  };
}

/** False when the poll was aborted: then the process is to be thought dead. */
async function pollAmidst(
  watched: WatchedAccount,
  partner: HostilePartner,
  history: PartnerHistory,
  {
    mode,
    incidents,
    overtakenAt,
  }: { mode: PollMode; incidents: readonly { at: number; what: unknown }[]; overtakenAt: number | null },
): Promise<boolean> {
  const honest = partner.misbehave;
  const stop = new AbortController();
  const first = partner.requests.length;
  const other = Promise.withResolvers<void>();
  let otherPoll: Promise<unknown> = Promise.resolve();
  partner.misbehave = (request) => {
    const number = request.number - first;
    let odd: Misbehaviour = honest(request) ?? {};
    for (const { what } of incidents.filter(({ at }) => at === number)) {
      if (what === 'abort') stop.abort();
      else if (typeof what === 'string') odd = { ...odd, ...faults[what as keyof typeof faults] };
      else (what as { make: Move }).make(history);
    }
    if (number === overtakenAt) {
      otherPoll = watched.poll('sweep').finally(other.resolve);
      odd = { ...odd, after: other.promise };
    }
    return odd;
  };
  try {
    await watched.poll(mode, { signal: stop.signal });
    return true;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return false;
  } finally {
    await otherPoll;
    partner.misbehave = honest;
  }
}

function isQuiet({
  incidents,
  overtakenAt,
}: {
  incidents: readonly unknown[];
  overtakenAt: unknown;
}): boolean {
  return incidents.length === 0 && overtakenAt === null;
}

// One undisturbed poll sees whatever left an unsettled status, and where lists have an order also what
// entered one.
async function checkTimely(
  watched: WatchedAccount,
  partner: HostilePartner,
  given: World,
  mode: PollMode,
): Promise<void> {
  const before = await states(watched);
  await watched.poll(mode);
  const missedReads = await watched.polling.missedReads(watched.account);
  const after = await states(watched);
  for (const row of partner.rows) {
    const id = String(row.id);
    const isSeen =
      given.order === 'none'
        ? before.get(id)?.removed === false && isMoving(before.get(id)?.status)
        : isMoving(row.status);
    if (isSeen && !missedReads.has(id))
      expect(after.get(id)?.status, `${id} after a ${mode}`).toBe(row.status);
  }
}

const isMoving = (to: unknown) => to === 'UNPAID' || to === 'PAID' || to === 'PENDING';

async function states(watched: WatchedAccount): Promise<Map<string, FilingState>> {
  const known = new Map<string, FilingState>();
  for await (const chunk of watched.snapshot.scan(watched.account))
    for (const [id, state] of chunk) known.set(id, state());
  return known;
}

interface Books {
  /**
   * Redis was set back: what only a process that has ended knew of is missing in the log, and sequences leap
   * over it.
   */
  restored: boolean;
  readonly history: PartnerHistory;
  readonly told: Map<string, SeenEvent>;
  readonly baselineFrom: number;
}

async function check(
  watched: WatchedAccount,
  { history, told, baselineFrom, restored }: Books,
): Promise<void> {
  const entries = await watched.log.outlineAfter(watched.account, 0, 10_000);
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, i) => i + 1));
  const last = new Map<string, SeenEvent>();
  for (const event of await watched.events()) {
    if (event.type.startsWith('account.')) continue;
    const former = last.get(event.filingId);
    const next = (former?.sequence ?? 0) + 1;
    if (restored) expect(event.sequence, `sequence in ${show(event)}`).toBeGreaterThanOrEqual(next);
    else expect(event.sequence, `sequence in ${show(event)}`).toBe(next);
    if (former !== undefined && event.sequence === next)
      expect(event.previousStatus, `chain in ${show(event)}`).toBe(former.status);
    expect(history.lieIn(event, baselineFrom), show(event)).toBeNull();
    last.set(event.filingId, event);
    const { id, filingId, sequence, type, status: to, previousStatus, completedAt, rejectionReason } = event;
    const content = JSON.stringify([
      filingId,
      sequence,
      type,
      to,
      previousStatus,
      completedAt,
      rejectionReason,
    ]);
    const same = [...told.values()].find((earlier) => earlier.id === id);
    if (same !== undefined)
      expect([same.filingId, same.sequence, same.type], `one id: ${show(event)}`).toEqual([
        filingId,
        sequence,
        type,
      ]);
    told.set(content, told.get(content) ?? event);
  }
}

const show = (event: SeenEvent) => JSON.stringify({ ...event, filing: undefined });

async function checkConvergence(
  watched: WatchedAccount,
  partner: HostilePartner,
  prefix: string,
): Promise<void> {
  const known = await states(watched);
  const present = [...known].filter(([, { removed }]) => !removed);
  const plain = ({
    status: to,
    completedAt,
    rejectionReason,
  }: Pick<FilingState, 'status' | 'completedAt' | 'rejectionReason'>) => ({
    status: to,
    completedAt,
    rejectionReason,
  });
  expect(Object.fromEntries(present.map(([id, state]) => [id, plain(state)]))).toEqual(
    Object.fromEntries(partner.rows.map((row) => [row.id, plain(row as never)])),
  );
  const counts = await watched.snapshot.counts(watched.account);
  for (const each of statuses) {
    const ids = present.filter(([, state]) => state.status === each).map(([id]) => id);
    expect(counts[each] ?? 0, `count of ${each}`).toBe(ids.length);
    if (each !== 'COMPLETED')
      expect((await watched.snapshot.idsIn(watched.account, each)).toSorted()).toEqual(ids.toSorted());
  }
  expect(
    await storedAccount(client, createKeys(prefix).account(watched.account)).missing(),
    'missedReads left',
  ).toBe(0);
  const events = (await watched.events()).filter(({ type }) => !type.startsWith('account.'));
  for (const [id, { sequence }] of known)
    expect(sequence).toBe(events.findLast(({ filingId }) => filingId === id)?.sequence ?? 0);
}
