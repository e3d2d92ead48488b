import type { Account } from '../../../src/accounts/account.ts';
import type { DigestSchedule } from '../../../src/accounts/digest.ts';
import type { Clock } from '../../../src/redis/clock.ts';
import { pick, wholeNumber, type Random } from '../../../src/sandbox/random.ts';
import type { Cut } from '../../support/connections/tcp-proxy.ts';
import { startHostilePartner } from '../../support/partner/hostile-partner.ts';
import type { TestRedis } from '../../support/redis/test-redis.ts';
import { dayMs, dealLots, dueDays, planYear, type Life } from './plan.ts';
import { startProcess, superviseProcess, type Process, type YearAccount } from './process.ts';

/** The size of a year. */
export interface YearSize {
  readonly accounts: number;
  /** Of all accounts together, those of which one is resubmitted for another included. */
  readonly filings: number;
  readonly lookAlikes: number;
  readonly kills: number;
  /** Days between two polls of an account. */
  readonly pollDays: number;
}

/** An account after its year, with the truth about it. */
export interface LivedAccount extends YearAccount {
  readonly lives: readonly Life[];
}

/** A year that has passed. */
export interface LivedYear {
  readonly accounts: readonly LivedAccount[];
  /** A process that begins after all of it. */
  readonly process: Process;
  readonly kills: number;
  readonly polls: number;
  readonly pollDays: number;
  /** First milliseconds of the two outages: of the daemon, and of the partner service. */
  readonly daemonAwayFrom: number;
  readonly serviceAwayFrom: number;
}

/** The first moment of the year; clocks of Chicago change on 8 March and 1 November. */
export const yearFrom = Date.UTC(2037, 0, 1);
export const yearDays = 365;
export const zone = 'America/Chicago';
// 08:00 in Chicago is 14:00 UTC in winter, and 13:00 in summer.
const digestSchedules: readonly DigestSchedule[] = [
  { at: '08:00', zone, days: 'daily' },
  { at: '08:00', zone, days: 'mon-fri' },
];
// Hours of each day (UTC) at which the daemon looks whether digests are due.
const digestHours = [0.02, 12.98, 13.02, 13.98, 14.02, 23.5];
/** Days after which a rejection that no person has seen is reported. */
export const stalledDays = 5;

/** The part of the time between two polls by which one may be late. */
export const pollShift = 0.25;

/** What happens at a moment of the year. */
interface Moment {
  readonly at: number;
  readonly happen: () => unknown;
}

// A kill comes when one of these is written, or, with '', at any command.
const killedAt = ['filing.due', 'filing.resubmitted', 'filing.noted', 'filing.stalled', 'account.digest', ''];

/** Lives a year; what it stands on ends with the stack. */
export async function liveYear(
  stack: AsyncDisposableStack,
  redis: TestRedis,
  prefix: string,
  random: Random,
  size: YearSize,
): Promise<LivedYear> {
  let now = yearFrom;
  // It goes on by a millisecond whenever it is looked at.
  const clock: Clock = { now: () => (now += 1), steadySince: () => 0, synchronise: async () => undefined };
  const daemon = stack.use(await superviseProcess(redis.url, prefix, clock));
  const { persist } = daemon;
  const other = stack.use(await startProcess(redis.url, prefix, clock));
  let polls = 0;
  let isAway = false;

  const accounts: LivedAccount[] = [];
  const lots = dealLots(random);
  for (let i = 0; i < size.accounts; i += 1) {
    const lives = planYear(
      random,
      lots,
      yearFrom,
      Math.ceil(size.filings / size.accounts) - Math.ceil(size.lookAlikes / size.accounts),
      Math.ceil(size.lookAlikes / size.accounts),
    );
    const partner = stack.use(await startHostilePartner());
    accounts.push({ settings: settingsOf(`a${i + 1}`, i, size.pollDays), partner, lives });
  }

  async function poll(account: YearAccount): Promise<void> {
    if (isAway) return;
    polls += 1;
    account.partner.requests.length = 0;
    // Sometimes a second process polls at the same time.
    const isShared = random() < 0.05;
    const both = await Promise.allSettled([
      persist(async (living) => (await living.watch(account)).poll()),
      ...(isShared ? [(await other.watch(account)).poll()] : []),
    ]);
    for (const end of both) if (end.status === 'rejected') throw end.reason;
  }

  async function lookAtDigest(account: YearAccount): Promise<void> {
    if (isAway) return;
    await Promise.all([
      persist((living) => living.lookAtDigest(account)),
      ...(random() < 0.2 ? [other.lookAtDigest(account)] : []),
    ]);
  }

  const outages = {
    daemonAwayFrom: outageDay(random, 60, 180),
    serviceAwayFrom: outageDay(random, 190, 300),
  };
  const { daemonAwayFrom, serviceAwayFrom } = outages;
  const setService = (isDown: boolean) => {
    for (const { partner } of accounts) partner.misbehave = () => (isDown ? { status: 503 } : undefined);
  };
  const moments: Moment[] = [
    { at: daemonAwayFrom, happen: () => (isAway = true) },
    { at: daemonAwayFrom + dayMs, happen: () => (isAway = false) },
    { at: serviceAwayFrom, happen: () => setService(true) },
    { at: serviceAwayFrom + dayMs, happen: () => setService(false) },
  ];
  for (let i = 0; i < size.kills; i += 1)
    moments.push({
      at: yearFrom + ((i + random()) / size.kills) * (yearDays - 5) * dayMs,
      happen: () =>
        void (daemon.cut = daemon.cut === null ? cutOf(random, pick(random, killedAt)) : cutOf(random, '')),
    });
  for (const account of accounts) {
    moments.push(...account.lives.flatMap((life) => momentsOf(account, life)));
    for (const life of account.lives)
      if (isFinite(life.seenAt)) moments.push({ at: life.seenAt, happen: () => triage(account, life) });
    const pollHours = 24 * size.pollDays;
    const firstPoll = random() * (1 - pollShift) * pollHours;
    for (let day = 0; day < yearDays; day += 1) {
      const at = (hours: number) => yearFrom + day * dayMs + hours * 3_600_000;
      if (day % size.pollDays === 0)
        moments.push({ at: at(firstPoll + random() * pollShift * pollHours), happen: () => poll(account) });
      for (const hours of digestHours) moments.push({ at: at(hours), happen: () => lookAtDigest(account) });
    }
  }

  // Three steps of a person, the first of them asked for twice.
  async function triage(account: YearAccount, { id }: Life): Promise<void> {
    const seen = { kind: 'seen', by: 'Dana', text: null } as const;
    const steps = [
      seen,
      { kind: 'assigned', by: 'Dana', assignee: 'Lee' },
      { kind: 'note', by: 'Lee', text: 'asked' },
      seen,
    ] as const;
    for (const step of steps) {
      const result = await persist((living) => living.note(account, id, step));
      if (result !== 'noted' && result !== 'unchanged') throw new Error(`${id} cannot be noted: ${result}`);
    }
  }

  for (const { at, happen } of moments.toSorted((a, b) => a.at - b.at)) {
    now = Math.max(now, at);
    await happen();
  }
  daemon.cut = null;
  for (const account of accounts) await poll(account);
  return { accounts, process: other, kills: daemon.kills(), polls, pollDays: size.pollDays, ...outages };
}

function settingsOf(account: string, index: number, pollDays: number): Account {
  return {
    account,
    incarnation: '',
    baseUrl: '',
    pollIntervalMs: pollDays * dayMs,
    sweepIntervalMs: 7 * dayMs,
    stalledAfter: { REJECTED: { after: `P${stalledDays}D`, unless: 'seen' } },
    digest: digestSchedules[index % digestSchedules.length] ?? null,
    due: Object.fromEntries(Object.entries(dueDays).map(([state, days]) => [state, `P${days}D`])),
    dueWarnings: null,
    createdAt: yearFrom,
    updatedAt: yearFrom,
  };
}

// From 10:00 UTC, before the digest of the day.
function outageDay(random: Random, first: number, last: number): number {
  return yearFrom + wholeNumber(random, first, last) * dayMs + 10 * 3_600_000;
}

function cutOf(random: Random, text: string): Cut {
  let commands = wholeNumber(random, 1, 20);
  return {
    at: pick(random, ['request', 'reply'] as const),
    isMetBy(sent) {
      commands -= 1;
      return text === '' ? commands === 0 : sent.includes(text);
    },
  };
}

// The changes of a filing at its partner service.
function momentsOf({ partner }: YearAccount, life: Life): Moment[] {
  const { id, fields } = life;
  const change = (at: number, status: string, more: object = {}): Moment => ({
    at,
    happen: () => partner.put(id, { ...more, status }),
  });
  const completed = {
    completedAt: new Date(isFinite(life.completedAt) ? life.completedAt : 0).toISOString(),
  };
  return [
    { at: life.bornAt, happen: () => partner.put(id, { ...fields, id, status: 'UNPAID' }) },
    change(life.paidAt, 'PAID'),
    change(life.pendingAt, 'PENDING'),
    change(life.rejectedAt, 'REJECTED', { rejectionReason: `Affidavit of ${id} is not signed` }),
    change(life.correctedAt, 'PENDING', { rejectionReason: null }),
    change(life.completedAt, 'COMPLETED', completed),
  ].filter(({ at }) => isFinite(at));
}
