import { PartnerError, type PartnerErrorKind } from '../partner/partner-error.ts';
import { nextPollMs } from './schedule/backoff.ts';
import { describeDoubt, type Doubt } from './doubt/doubt.ts';
import { askIdentity } from './doubt/identity.ts';
import { createInterludes } from './polls-in-between.ts';
import { phaseOf } from './schedule/stagger.ts';
import { isEarly } from './schedule/poll-schedule.ts';
import { isLarge, planPoll, type PollMode, type PollPlan } from './schedule/plan.ts';
import { readDelta } from './reads/delta.ts';
import { readEverything, type ReadDeps, type ReadOutcome } from './reads/full.ts';
import { createPollRun, type PollRun, type PollRunDeps, type PollRunInput } from './reads/poll-reads.ts';
import type { MarksUpdate, PollingMarks } from './store/marks.ts';
import { timesAhead } from './schedule/times-ahead.ts';

/** What one poll came to. */
export type PollOutcome =
  | {
      readonly kind: 'complete';
      readonly mode: PollMode;
      readonly events: number;
      /** Known filings that could not be read one by one; each is tried again by itself. */
      readonly unread: number;
      /** True when it told what would have been doubted, had the operator not accepted it. */
      readonly accepted?: true;
    }
  /**
   * What was read is not believed to be the account's own; what of it was held back waits until it is, or is
   * accepted.
   */
  | {
      readonly kind: 'doubtful';
      readonly mode: PollMode;
      readonly events: number;
      readonly unread: number;
      readonly doubt: Doubt;
      readonly message: string;
    }
  /** Part of the list could not be had; what was read is kept and the next poll comes as ever. */
  | {
      readonly kind: 'incomplete';
      readonly mode: PollMode;
      readonly events: number;
      readonly unread: number;
      readonly message: string;
    }
  /** The partner service could not be read; what was read is kept, the next poll waits for `retryInMs`. */
  | {
      readonly kind: 'failed';
      readonly reason: PartnerErrorKind;
      readonly message: string;
      readonly retryInMs: number;
    }
  /** Nothing was read: the wait after a failure is not over. */
  | { readonly kind: 'backing_off' }
  /** Nothing was read: the schedule called for it too soon after the last one, by a clock that had moved. */
  | { readonly kind: 'early' }
  /** Nothing was read: too many large reads are under way. */
  | { readonly kind: 'crowded' };

/** An account as polling needs it. */
export interface PolledAccount {
  readonly account: string;
  readonly incarnation: string;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
}

/** How a poll came about. */
export interface PollRequest {
  readonly mode: PollMode;
  /** Somebody asked for it: it does not wait for a backoff to pass. */
  readonly asked: boolean;
  /** The first poll with these settings: that the former key was refused says nothing. */
  readonly newSettings: boolean;
}

export interface PollAccountDeps extends PollRunDeps, ReadDeps {
  readonly random: () => number;
  /** Requests sent by the account's client so far, retries included. */
  readonly requestsSent: () => number;
  /** Number of filings from which on polls read less than everything. */
  readonly largeFrom: number;
  /** Takes one of the places for large reads, to be given back; null when none is free. */
  readonly takeLargeRead: () => (() => void) | null;
  /** Called after each poll made in between while a long one goes on. */
  readonly onInterlude: (poll: {
    readonly outcome: PollOutcome;
    readonly durationMs: number;
    readonly requests: number;
  }) => Promise<void>;
}

/**
 * One poll of an account: read what the plan says, compare each page with the snapshot as it comes, and keep
 * the marks. Safe to repeat, to overlap and to break off anywhere. Rejects only when Redis fails, the
 * snapshot is lost (SnapshotLostError) or the signal aborts.
 */
export async function pollAccount(
  deps: PollAccountDeps,
  account: PolledAccount,
  request: PollRequest,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const startedAt = deps.now();
  const marks = await beginPoll(deps.polling, account, startedAt);
  if (startedAt < marks.backoffUntil && !isWaitOver(marks, request)) return { kind: 'backing_off' };
  const scheduled = request.asked ? {} : { scheduledPollAt: startedAt };
  if (!request.asked && !request.newSettings && isEarly(marks, account.pollIntervalMs, startedAt))
    return { kind: 'early' };

  await deps.snapshot.catchUp(account.account, marks.generation, startedAt);
  const [counts, misses] = await Promise.all([
    deps.snapshot.counts(account.account),
    deps.polling.misses(account.account),
  ]);
  const phase = phaseOf(account.account);
  const { largeFrom } = deps;
  const wanted = planPoll({
    ...account,
    mode: request.mode,
    marks,
    counts,
    now: startedAt,
    largeFrom,
    phase,
  });
  const isLongRead = wanted === 'full' && (isLarge(counts, largeFrom) || !marks.baselined);
  const giveBack = isLongRead ? deps.takeLargeRead() : () => undefined;
  if (giveBack === null && (!marks.baselined || request.mode === 'sweep')) return { kind: 'crowded' };
  // A sweep that is due has to wait for a place; what may be missed meanwhile is as ever.
  const plan = giveBack === null ? 'delta' : wanted;

  const write = requestCounter(deps, account.account, marks.generation);
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const input = { account, marks, known, misses, startedAt, signal };
  const interlude = createInterludes(deps, input, async (run, read, requests) => {
    await write(conclusion(run, read, deps.now()), requests);
    const durationMs = deps.now() - run.startedAt;
    await deps.onInterlude({ outcome: outcomeOf('delta', read, run), durationMs, requests });
  });
  try {
    const { mode, run, read } = await readByPlan(deps, { ...input, interlude }, plan);
    await write({ ...conclusion(run, read, deps.now()), ...scheduled });
    return outcomeOf(mode, read, run);
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    // What is refused while nothing can be read is not refused for itself.
    deps.refused.clear();
    const failures = marks.consecutiveFailures + 1;
    const retryInMs = nextPollMs(failures, account.pollIntervalMs, error.retryAfterMs, deps.random);
    await write({
      lastPollAt: startedAt,
      ...scheduled,
      ...(plan === 'full' ? { sweepTriedAt: startedAt } : {}),
      consecutiveFailures: failures,
      backoffUntil: deps.now() + retryInMs,
      lastError: describe(error),
    });
    return { kind: 'failed', reason: error.kind, message: error.message, retryInMs };
  } finally {
    giveBack?.();
  }
}

interface PlannedRead {
  readonly mode: PollMode;
  readonly run: PollRun;
  readonly read: ReadOutcome;
}

async function readByPlan(deps: PollAccountDeps, input: PollRunInput, plan: PollPlan): Promise<PlannedRead> {
  // The first time there is nothing to compare it with.
  const isFirst = input.marks.identity === '';
  const before = isFirst ? null : await askIdentity(deps.client, input);
  const run = createPollRun(deps, input);
  if (before?.asked === true) run.guard.noteAccount(before.digest);
  if (run.guard.isClosed()) return { mode: 'delta', run, read: { earned: {}, whole: false } };
  const delta = plan === 'delta' ? await readDelta(run, deps) : null;
  const read = delta ?? (await readEverything(run, deps));
  const { earned } = before ?? (await askIdentity(deps.client, input));
  const kept = run.guard.isListDoubted() ? {} : earned;
  if (!run.guard.isToBeRepeated())
    return { mode: delta === null ? 'sweep' : 'delta', run, read: withMarks(read, kept) };
  // What was kept back beyond what memory holds: a run of its own, so that it counts as shown for the first
  // time.
  const again = createPollRun(deps, { ...input, isTrusted: true, eventsBefore: run.tally().events });
  return { mode: 'sweep', run: again, read: withMarks(await readEverything(again, deps), kept) };
}

function withMarks(read: ReadOutcome, marks: MarksUpdate): ReadOutcome {
  return { ...read, earned: { ...read.earned, ...marks } };
}

async function beginPoll(
  polling: PollAccountDeps['polling'],
  { account, incarnation, pollIntervalMs }: PolledAccount,
  now: number,
): Promise<PollingMarks> {
  const marks = await polling.begin(account, incarnation);
  const ahead = timesAhead(marks, now, pollIntervalMs);
  if (Object.keys(ahead).length === 0) return marks;
  await polling.correct(account, marks.generation, ahead);
  return { ...marks, ...ahead };
}

function isWaitOver(marks: PollingMarks, { asked, newSettings }: PollRequest): boolean {
  return asked || (newSettings && marks.authFailed);
}

function requestCounter(
  { polling, requestsSent }: PollAccountDeps,
  account: string,
  generation: string,
): (update: MarksUpdate, ofInterlude?: number) => Promise<void> {
  let written = requestsSent();
  let own = 0;
  return async (update, ofInterlude) => {
    const sent = requestsSent() - written;
    written += sent;
    own += sent - (ofInterlude ?? 0);
    await polling.write(account, generation, { ...update, requestsLastPoll: ofInterlude ?? own }, sent);
  };
}

/** The marks after a poll that came to its end. */
function conclusion(run: PollRun, { earned, whole }: ReadOutcome, now: number): MarksUpdate {
  const { failure } = run.tally();
  const { startedAt, marks, guard } = run;
  const doubt = guard.found();
  if (guard.isListDoubted() && doubt !== null) {
    // Of lists that are not the account's own nothing is learnt.
    const { sweepTriedAt } = earned;
    return {
      ...(sweepTriedAt === undefined ? {} : { sweepTriedAt }),
      lastPollAt: startedAt,
      consecutiveFailures: 0,
      backoffUntil: 0,
      lastError: describeDoubt(doubt),
    };
  }
  return {
    ...earned,
    lastPollAt: startedAt,
    ...(whole ? { lastCompletePollAt: startedAt, lastCompleteEndAt: now } : {}),
    consecutiveFailures: whole ? 0 : marks.consecutiveFailures + 1,
    backoffUntil: 0,
    lastError:
      failure === null
        ? whole
          ? doubt === null
            ? ''
            : describeDoubt(doubt)
          : brokenList
        : describe(failure),
  };
}

const brokenList = 'the filing list could not be read to its end';

function outcomeOf(mode: PollMode, { whole }: ReadOutcome, { guard, tally }: PollRun): PollOutcome {
  const { events, unread, failure } = tally();
  const doubt = guard.found();
  if (doubt !== null) return { kind: 'doubtful', mode, events, unread, doubt, message: describeDoubt(doubt) };
  const accepted = guard.isOverridden() ? { accepted: true as const } : {};
  if (whole) return { kind: 'complete', mode, events, unread, ...accepted };
  return { kind: 'incomplete', mode, events, unread, message: failure?.message ?? brokenList };
}

function describe({ kind, message }: PartnerError): string {
  return `${kind}: ${message}`;
}
