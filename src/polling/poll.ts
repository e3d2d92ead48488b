import { PartnerError } from '../partner/partner-error.ts';
import type { Deadlines } from '../filings/detection/deadlines.ts';
import type { LateFilings } from '../filings/detection/decide-commit.ts';
import { toDueRules, type DueSettings } from '../filings/detection/due-dates.ts';
import { toStayLimits } from '../filings/detection/stay-limits.ts';
import { readIdentity, standingDoubt } from './beliefs/doubt.ts';
import { doubtedFrom } from './beliefs/weigh.ts';
import { describeError, marksAfter, outcomeOf, type PollOutcome } from './poll-outcome.ts';
import { healthState } from './health.ts';
import { readDelta } from './reads/delta.ts';
import { readEverything, type ReadOutcome } from './reads/full.ts';
import type { PollInput, ReadDeps } from './reads/poll-input.ts';
import { createPollReads, type PollReads } from './reads/poll-reads.ts';
import { isLarge, planPoll, staggerOf, sweepRetryMs, type PollMode, type PollPlan } from './schedule/plan.ts';
import { isEarly, nextPollMs, timesAhead } from './schedule/poll-schedule.ts';
import { noneLate, type LateSearch } from './schedule/late-filings.ts';
import type { PollLease } from './store/lease-store.ts';
import type { MarksUpdate, PollingMarks } from './store/marks.ts';

/** An account as polling needs it. */
export interface PolledAccount extends DueSettings {
  readonly account: string;
  readonly incarnation: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** ISO 8601 durations by status; null for none. */
  readonly stalledAfter: Parameters<typeof toStayLimits>[0];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** How a poll came about, and how it asks the service. */
export interface PollRequest {
  readonly mode: PollMode;
  /** A user asked for the poll; it does not wait for a backoff to pass. */
  readonly asked: boolean;
  /** The first poll with these settings: the refusal of a former key does not count. */
  readonly newSettings: boolean;
  readonly client: PollInput['client'];
  /** Requests sent by this client so far, retries included. */
  readonly requestsSent: () => number;
  /** Taken when the poll begins, and ended with its marks. If left out, the poll needs none. */
  readonly lease?: PollLease;
}

/** Nothing was done: another poll of this kind has the account's lease. */
export const leased = 'leased';

/** A poll that has ended, and the marks as they are then. */
export interface EndedPoll {
  readonly outcome: PollOutcome;
  readonly marks: PollingMarks;
}

/** A poll that has ended, with its measurements. */
export interface MeasuredPoll {
  readonly outcome: PollOutcome;
  readonly durationMs: number;
  readonly requests: number;
}

export interface PollAccountDeps extends ReadDeps {
  /** Milliseconds so far in which the account's requests waited for their turn at the host. */
  readonly waitedForTurnMs: () => number;
  /** Finds filings that have passed a deadline. */
  readonly late: LateSearch;
  /** Number of filings from which on polls read less than everything. */
  readonly largeFrom: number;
  /** Takes one of the places for large reads; returns its release, or null when none is free. */
  readonly tryTakePlace: () => (() => void) | null;
  /**
   * Does the reads of a poll, and notes meanwhile that they take long. When they have ended nothing of that
   * is written any more.
   */
  readonly whileReading: <T>(account: PolledAccount, read: () => Promise<T>) => Promise<T>;
  /** The account's records that could not be read since the last call, in words; empty without any. */
  readonly unreadable: (account: string) => string;
  /**
   * Begins a sweep of the account in a job of its own, beside which its delta polls go on. Left out: a poll
   * that finds a sweep due makes it.
   */
  readonly beginSweep?: (account: string, asked: boolean) => Promise<void>;
}

/**
 * Polls an account once, step by step as in docs/polling.md#one-poll. It is safe to repeat, to overlap and to
 * abort anywhere. Rejects only when Redis fails, the snapshot is lost (SnapshotLostError) or the signal
 * aborts.
 */
export async function pollAccount(
  deps: PollAccountDeps,
  account: PolledAccount,
  request: PollRequest,
  signal: AbortSignal,
): Promise<EndedPoll | typeof leased> {
  const startedAt = deps.now();
  const open = () => deps.polling.open(account.account, account.incarnation, request.lease);
  let opened = await open();
  if (opened === null) return leased;
  const marks = await withoutTimesAhead(deps.polling, account, opened.marks, startedAt);
  const tooSoon = whyTooSoon(marks, account, request, startedAt);
  if (tooSoon !== null) return { outcome: { kind: tooSoon }, marks };

  const { generation } = marks;
  if (await deps.snapshot.catchUp(account.account, generation, startedAt, opened.head))
    opened = (await open()) ?? opened;
  const { counts } = opened;
  const missedReads = await deps.polling.missedReads(account.account, opened.missed);
  const choice = await choosePlan(deps, account, request, marks, counts, startedAt);
  if (typeof choice === 'string') return { outcome: { kind: choice }, marks };

  const write = marksWriter(deps, account.account, marks, request);
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const deadlines = { limits: toStayLimits(account.stalledAfter), due: toDueRules(account) };
  const late = await findLate(deps, account, deadlines, marks, Object.keys(counts), startedAt);
  const isKnownLarge = isLarge(counts, deps.largeFrom);
  const isLong = isKnownLarge || !marks.baselined;
  // Delta polls go on beside it, and find out by themselves whether the service answers them.
  const isBesideDeltas = request.mode === 'sweep' && marks.baselined && isKnownLarge;
  const { client } = request;
  const input = { account, client, marks, known, missedReads, deadlines, late, startedAt, isLong, signal };
  const scheduled = request.asked ? {} : { scheduledPollAt: startedAt };
  try {
    const { mode, reads, read } = await deps.whileReading(account, () =>
      readByPlan(deps, input, choice.plan),
    );
    const after = await write({ ...marksAfter(reads, read, deps.now()), ...scheduled });
    return { outcome: outcomeOf(mode, reads, read), marks: after };
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    const tried = choice.plan === 'full' ? { sweepTriedAt: startedAt } : {};
    const { kind: reason, message } = error;
    if (isBesideDeltas) {
      const after = await write({ ...tried, lastError: describeError(error) });
      return { outcome: { kind: 'failed', reason, message, retryInMs: sweepRetryMs(account) }, marks: after };
    }
    const failures = marks.consecutiveFailures + 1;
    const retryInMs = nextPollMs(failures, account.pollIntervalMs, error.retryAfterMs, deps.random);
    const after = await write({
      lastPollAt: startedAt,
      ...scheduled,
      ...tried,
      consecutiveFailures: failures,
      backoffUntil: deps.now() + retryInMs,
      lastError: describeError(error),
    });
    return { outcome: { kind: 'failed', reason, message, retryInMs }, marks: after };
  } finally {
    choice.release();
  }
}

// What is known of an account that cannot be read, or is doubted, may no longer be so.
async function findLate(
  deps: PollAccountDeps,
  { account, pollIntervalMs, createdAt }: PolledAccount,
  deadlines: Deadlines,
  marks: PollingMarks,
  statuses: readonly string[],
  now: number,
): Promise<LateFilings> {
  // Polls that are only late still show what is so.
  const health = healthState({ ...marks, budgetWaitMs: 0 }, pollIntervalMs, createdAt, now);
  return health === 'ok' ? deps.late.find(account, deadlines, statuses, now) : noneLate;
}

async function withoutTimesAhead(
  polling: PollAccountDeps['polling'],
  { account, pollIntervalMs }: PolledAccount,
  marks: PollingMarks,
  now: number,
): Promise<PollingMarks> {
  const ahead = timesAhead(marks, now, pollIntervalMs);
  if (Object.keys(ahead).length === 0) return marks;
  await polling.correct(account, marks.generation, ahead);
  return { ...marks, ...ahead };
}

function whyTooSoon(
  marks: PollingMarks,
  { pollIntervalMs }: PolledAccount,
  { mode, asked, newSettings }: PollRequest,
  startedAt: number,
): 'backing_off' | 'early' | null {
  const isWaitOver = startedAt >= marks.backoffUntil || asked || (newSettings && marks.authFailed);
  if (!isWaitOver) return 'backing_off';
  // A sweep is begun by a poll that may have ended by now.
  const isTick = mode === 'delta' && !asked && !newSettings;
  return isTick && isEarly(marks, pollIntervalMs, startedAt) ? 'early' : null;
}

/** The plan of a poll; `release` gives back its place among the large reads. */
interface Choice {
  readonly plan: PollPlan;
  readonly release: () => void;
}

// A long read is left to a job of its own, beside which the account is polled by delta as far as it is known.
async function choosePlan(
  { largeFrom, tryTakePlace, beginSweep }: PollAccountDeps,
  account: PolledAccount,
  { mode, asked, newSettings }: PollRequest,
  marks: PollingMarks,
  counts: Readonly<Record<string, number>>,
  now: number,
): Promise<Choice | 'no_place' | 'left_to_sweep'> {
  const stagger = staggerOf(account.account);
  const plan = planPoll({ ...account, mode, marks, counts, now, largeFrom, stagger });
  const isKnown = isLarge(counts, largeFrom);
  if (plan === 'delta' || (marks.baselined && !isKnown)) return { plan, release: () => undefined };
  if (mode === 'sweep' || beginSweep === undefined) {
    const release = tryTakePlace();
    return release === null ? 'no_place' : { plan, release };
  }
  await beginSweep(account.account, asked || newSettings);
  return isKnown ? { plan: 'delta', release: () => undefined } : 'left_to_sweep';
}

interface PlannedRead {
  readonly mode: PollMode;
  readonly reads: PollReads;
  readonly read: ReadOutcome;
}

async function readByPlan(deps: PollAccountDeps, input: PollInput, plan: PollPlan): Promise<PlannedRead> {
  const reads = createPollReads(deps, input);
  try {
    return await readAndConclude(reads, deps, plan);
  } catch (error) {
    // The pages that were read count.
    if (error instanceof PartnerError && !input.signal.aborted) await reads.findings.concludeEarly();
    throw error;
  }
}

async function readAndConclude(
  reads: PollReads,
  deps: PollAccountDeps,
  plan: PollPlan,
): Promise<PlannedRead> {
  const { client, marks, account, startedAt, known, signal } = reads.input;
  const isDue = startedAt - marks.identityAt >= account.sweepIntervalMs || standingDoubt(marks) !== null;
  const ask = async () => {
    const digest = await readIdentity(client, signal);
    const isFirst = marks.identity === '' || !marks.baselined || known < doubtedFrom;
    reads.findings.noteAccount(digest);
    return { identityAt: startedAt, ...(digest !== null && isFirst ? { identity: digest } : {}) };
  };
  // On the first poll there is no identity to compare with, so it is requested after the lists.
  const isAskedFirst = marks.identity !== '';
  const asked = isDue && isAskedFirst ? await ask() : {};
  if (reads.findings.isOther()) {
    await reads.conclude();
    return { mode: 'delta', reads, read: { earned: {}, whole: false } };
  }
  const delta = plan === 'delta' ? await readDelta(reads, deps) : null;
  const read = delta ?? (await readEverything(reads, deps));
  const earned = { ...read.earned, ...(isDue && !isAskedFirst ? await ask() : asked) };
  const mode = delta === null ? 'sweep' : 'delta';
  return { mode, reads, read: { ...read, earned: reads.verdict().list ? read.earned : earned } };
}

/** Writes marks together with the number of requests so far, and returns all of them. */
function marksWriter(
  { polling, waitedForTurnMs, unreadable }: PollAccountDeps,
  account: string,
  { generation, budgetWaitMs }: PollingMarks,
  { requestsSent, lease }: PollRequest,
): (update: MarksUpdate) => Promise<PollingMarks> {
  const waitedBefore = waitedForTurnMs();
  const waited = () => {
    const now = Math.round(waitedForTurnMs() - waitedBefore);
    return now === budgetWaitMs ? {} : { budgetWaitMs: now };
  };
  return async (update) => {
    const requestsLastPoll = requestsSent();
    const lastError = update.lastError === '' ? unreadable(account) : update.lastError;
    const said = lastError === undefined ? {} : { lastError };
    return polling.write(
      account,
      generation,
      { ...update, requestsLastPoll, ...waited(), ...said },
      requestsLastPoll,
      lease,
    );
  };
}
