import type { BodyAllowance } from './body-allowance.ts';
import type { NewEvent } from '../events/event.ts';
import type { Clock } from '../redis/clock.ts';
import { decideCommit, isAsStored } from './detection/decide-commit.ts';
import type { DecisionContext, FilingCommit, Observation } from './detection/decide-commit.ts';
import { comparedSpan, type ComparedSpan } from './detection/detect-change.ts';
import { takeTurns } from '../json/turns.ts';
import type { StoredState } from './detection/filing-state.ts';
import type { CommitResult } from './commit/commit-writer.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** An event that a commit has put into the log, without its body. */
export interface RecordedEvent extends Omit<NewEvent, 'body'> {
  readonly position: number;
}

/** The facts that the poll knows and a single read does not, and which commits are to wait. */
export interface ObservationContext extends DecisionContext {
  /** Whether a commit waits: it is returned, and not written. Left out, none does. */
  readonly waits?: (commit: FilingCommit) => boolean;
}

/** The result of comparing the filings of one request with the snapshot. */
export interface Observed {
  /** The events written, in log order. */
  readonly events: readonly RecordedEvent[];
  /** Number of filings never seen before. */
  readonly added: number;
  /**
   * Earliest start (ms, Redis's clock) of the newer reads that had already been applied to some of the
   * filings; for these filings this read proves nothing. Infinity when there were none.
   */
  readonly overtakenBy: number;
  /** Commits that wait, each with what it was decided from. */
  readonly waiting: readonly Step[];
}

/** An observation that differs from the stored state, and the commit of the difference. */
export interface Step {
  readonly observation: Observation;
  readonly commit: FilingCommit;
}

export interface ObserveDeps {
  readonly snapshot: SnapshotStore;
  readonly clock: Clock;
  /** The allowance of the account; each event takes the bytes of its body from it. */
  readonly bodies: BodyAllowance;
}

const conflictRetriesMax = 10;
// Maximum number of filings that are read and written at once. It bounds the time that one script keeps Redis
// busy.
const filingsAtOnceMax = 200;

/**
 * Compares the filings of one request with the snapshot, writes every difference and appends its event. After
 * a conflict with another writer the filing's state is read and decided again, so nothing is written twice. A
 * crash leaves some filings written with their events, and the others as they were.
 */
export async function observeFilings(
  deps: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  span: ComparedSpan,
): Promise<Observed> {
  const tally: Tally = { events: [], added: 0, overtakenBy: Infinity, waiting: [] };
  // Commits keep the order of the page.
  for (let from = 0; from < observations.length; from += filingsAtOnceMax)
    await observeSome(deps, context, observations.slice(from, from + filingsAtOnceMax), span, tally);
  return { ...tally, events: tally.events.toSorted((a, b) => a.position - b.position) };
}

interface Tally {
  readonly events: RecordedEvent[];
  added: number;
  overtakenBy: number;
  readonly waiting: Step[];
}

async function observeSome(
  deps: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  span: ComparedSpan,
  tally: Tally,
): Promise<void> {
  const { account, generation } = context;
  let { announces } = context;
  let open = observations;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > conflictRetriesMax)
      throw new Error(`${open.length} filings changed under every attempt to commit`);
    const steps = await decideAll(deps, { ...context, announces }, open, span, tally);
    const toWrite = steps.filter(({ commit }) => context.waits?.(commit) !== true);
    tally.waiting.push(...steps.filter((step) => !toWrite.includes(step)));
    const commits = toWrite.map(({ commit }) => commit);
    const results = await deps.snapshot.commit(account, generation, commits, deps.clock.now());
    open = [];
    for (const [i, { observation, commit }] of toWrite.entries()) {
      const result = results[i];
      if (result?.kind !== 'written') open = [...open, observation];
      else if (commit.previous === null) tally.added += 1;
      tally.events.push(...recordedBy(commit, result));
    }
    if (results.some(({ kind }) => kind === 'baselined')) announces = () => true;
  }
}

/** The steps that differ from the stored states. */
async function decideAll(
  { snapshot, clock, bodies }: ObserveDeps,
  context: DecisionContext,
  observations: readonly Observation[],
  span: ComparedSpan,
  tally: Tally,
): Promise<Step[]> {
  const states = await snapshot.read(
    context.account,
    observations.map(({ id }) => id),
  );
  const open: { readonly observation: Observation; readonly previous: StoredState | null }[] = [];
  for (const [i, observation] of observations.entries()) {
    const previous = states[i] ?? null;
    if (!isAsStored(context, observation, previous)) open.push({ observation, previous });
  }
  // Redis's present time shows whether its clock was ahead.
  if (open.length > 0) await clock.synchronise();
  const compared = comparedSpan(span, { at: clock.now(), steadySince: clock.steadySince() });
  const steps: Step[] = [];
  // Filings are parsed once more for their events.
  const turns = takeTurns();
  for (const { observation, previous } of open) {
    if (turns.isOver()) await turns.next();
    const filingBytesMax = Math.min(context.filingBytesMax, bodies.filingBytesMax());
    const decision = decideCommit({ ...context, filingBytesMax }, observation, previous, compared);
    if (decision.kind === 'outdated') tally.overtakenBy = Math.min(tally.overtakenBy, decision.since);
    if (decision.kind !== 'commit') continue;
    bodies.take(decision.commit.event?.body.length ?? 0);
    steps.push({ observation, commit: decision.commit });
  }
  return steps;
}

/** The reports of the events that a commit has put into the log, that of a joined commit included. */
export function recordedBy({ event }: FilingCommit, result: CommitResult | undefined): RecordedEvent[] {
  if (result?.kind !== 'written') return [];
  const { position, joined } = result;
  return [
    ...(event === null || position === null ? [] : [toRecorded(event, position)]),
    ...(joined === undefined ? [] : [toRecorded(joined.event, joined.position)]),
  ];
}

/** The report of an event that is in the log at that position. */
export function toRecorded(
  { id, type, filingId, state, status, omittedBytes }: NewEvent,
  position: number,
): RecordedEvent {
  const omitted = omittedBytes === undefined ? {} : { omittedBytes };
  return { position, id, type, filingId, state, status, ...omitted };
}
