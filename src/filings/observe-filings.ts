import { buildFilingEvent, type NewEvent } from '../events/event.ts';
import type { PartnerFiling } from '../partner/filing-schema.ts';
import { clockStepMsMin, type Clock } from '../redis/clock.ts';
import {
  comparedSpan,
  detectChange,
  detectRemoval,
  type Detection,
  type ComparedSpan,
} from './detection/detect-change.ts';
import { isLookedFor, toDetails } from './detection/filing-details.ts';
import { isShownBy, type FilingState } from './detection/filing-state.ts';
import type { CommitResult, FilingCommit, StoredState } from './commit/filing-commit.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** An event that a commit has put into the log, without its body. */
export interface RecordedEvent extends Omit<NewEvent, 'body'> {
  readonly position: number;
}

/** The document of a filing as the partner service returned it; null where it returned none. */
export type FilingDocument = Readonly<Record<string, unknown>> | null;

/** What the poll knows that a single read does not. */
export interface ObservationContext {
  readonly account: string;
  /** Of the snapshot, as the poll found it. */
  readonly generation: string;
  /**
   * Whether a filing never seen before is new. Those that are not (the baseline) are taken in without an
   * event.
   */
  readonly announces: (id: string) => boolean;
  /**
   * Latest time (ms, Redis's clock) at which a filing is known to have been as stored; `previous` null: not
   * to have been.
   */
  readonly knownUntil: (id: string, previous: FilingState | null, document: FilingDocument) => number;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  /**
   * Told once per read how many of its filings are known and how many were never seen before; true: the
   * latter are neither written nor announced, but handed back. Nothing is where this is left out.
   */
  readonly holdsBack?: (known: number, unknown: number) => boolean;
}

/** One filing as read, or the fact that the partner service does not know the id (`filing` null). */
export interface Observation {
  readonly id: string;
  readonly filing: PartnerFiling | null;
}

/** What comparing one request's filings with the snapshot came to. */
export interface Observed {
  /** The events written, in log order. */
  readonly events: readonly RecordedEvent[];
  /** Filings never seen before. */
  readonly added: number;
  /**
   * Where newer reads had already been applied, the earliest start of those (ms, Redis's clock): nothing is
   * known of these filings from this read. Infinity when there were none.
   */
  readonly overtakenBy: number;
  /** Filings never seen before that were held back. */
  readonly held: readonly Observation[];
}

export interface ObserveDeps {
  readonly snapshot: SnapshotStore;
  readonly clock: Clock;
}

const conflictRetriesMax = 10;
// Bounds the time that one script keeps Redis busy.
const commitsMax = 200;

/**
 * Compares what one request read with the snapshot, writes every difference and appends its event.
 * Conflicting writers are met by reading and deciding again, so nothing is written twice.
 */
export async function observeFilings(
  deps: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  window: ComparedSpan,
): Promise<Observed> {
  const tally: Tally = { events: [], added: 0, overtakenBy: Infinity, held: [] };
  for (let from = 0; from < observations.length; from += commitsMax) {
    // Commits keep the order of the page.
    // oxlint-disable-next-line no-await-in-loop
    await observeSome(deps, context, observations.slice(from, from + commitsMax), window, tally);
  }
  return { ...tally, events: tally.events.toSorted((a, b) => a.position - b.position) };
}

interface Tally {
  readonly events: RecordedEvent[];
  added: number;
  overtakenBy: number;
  readonly held: Observation[];
}

async function observeSome(
  deps: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  window: ComparedSpan,
  tally: Tally,
): Promise<void> {
  let open = observations;
  let { announces, holdsBack } = context;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > conflictRetriesMax)
      throw new Error(`${open.length} filings changed under every attempt to commit`);
    const decided = await decideAll(deps, { ...context, announces }, open, window);
    const { overtakenBy } = decided;
    const unknown = decided.steps.filter(({ commit }) => commit.previous === null).length;
    const isHeld = holdsBack?.(open.length - unknown, unknown) === true;
    const steps = isHeld ? decided.steps.filter(({ commit }) => commit.previous !== null) : decided.steps;
    if (isHeld) tally.held.push(...unknownOf(decided.steps));
    // What is decided again has been told already.
    holdsBack = undefined;
    tally.overtakenBy = Math.min(tally.overtakenBy, overtakenBy);
    const commits = steps.map(({ commit }) => commit);
    const results = await deps.snapshot.commit(
      context.account,
      context.generation,
      commits,
      deps.clock.now(),
    );
    open = steps.flatMap(({ observation, commit }, i) =>
      take(commit, results[i], tally) ? [] : [observation],
    );
    if (results.some(({ kind }) => kind === 'baselined')) announces = () => true;
  }
}

function unknownOf(steps: readonly Step[]): Observation[] {
  return steps.filter(({ commit }) => commit.previous === null).map(({ observation }) => observation);
}

function take(commit: FilingCommit, result: CommitResult | undefined, tally: Tally): boolean {
  if (result?.kind !== 'written') return false;
  if (commit.previous === null) tally.added += 1;
  if (commit.event !== null && result.position !== null)
    tally.events.push(toRecorded(commit.event, result.position));
  return true;
}

/** What is told of an event once it is in the log at that position; pure. */
export function toRecorded(
  { id, type, filingId, state, omittedBytes }: NewEvent,
  position: number,
): RecordedEvent {
  return { position, id, type, filingId, state, ...(omittedBytes === undefined ? {} : { omittedBytes }) };
}

interface Step {
  readonly observation: Observation;
  readonly commit: FilingCommit;
}

async function decideAll(
  { snapshot, clock }: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  window: ComparedSpan,
): Promise<{ steps: Step[]; overtakenBy: number }> {
  const states = await snapshot.read(
    context.account,
    observations.map(({ id }) => id),
  );
  const open = observations
    .map((observation, i) => ({ observation, previous: states[i] ?? null }))
    .filter(
      // Nearly always so, and told without decoding anything.
      ({ observation: { filing }, previous }) =>
        previous === null || filing === null || !isShownBy(previous.text, filing),
    );
  // Whether Redis's clock was ahead is told by its time now.
  if (open.length > 0) await clock.synchronise();
  const compared = comparedSpan(window, { at: clock.now(), steadySince: clock.steadySince() });
  const steps: Step[] = [];
  let overtakenBy = Infinity;
  for (const { observation, previous } of open) {
    const known = previous?.known ?? null;
    // Of a newer format: a newer version's daemon looks after it.
    if (previous !== null && known === null) continue;
    const detection = detect(context, observation, known, compared);
    if (detection.kind === 'outdated') overtakenBy = Math.min(overtakenBy, known?.readFrom ?? 0);
    else if (detection.kind !== 'unchanged')
      steps.push({ observation, commit: toCommit(context, observation, previous, detection, compared) });
  }
  return { steps, overtakenBy };
}

function detect(
  { announces }: ObservationContext,
  { id, filing }: Observation,
  previous: FilingState | null,
  window: ComparedSpan,
): Detection {
  if (filing !== null) return detectChange(previous, filing, window, announces(id));
  return previous === null ? { kind: 'unchanged' } : detectRemoval(previous, window);
}

function toCommit(
  context: ObservationContext,
  { id, filing }: Observation,
  previous: StoredState | null,
  detection: Detection & { kind: 'change' | 'silent' },
  window: ComparedSpan,
): FilingCommit {
  const { next } = detection;
  // Computing a document means parsing its page once more, which the baseline of a million COMPLETED filings
  // is spared.
  const document = () => filing?.document() ?? null;
  const details = isLookedFor(next) ? toDetails(document()) : null;
  const commit = { id, previous, next, details };
  if (detection.kind === 'silent') return { ...commit, event: null };
  return { ...commit, event: toEvent(context, id, previous?.state ?? null, detection, window, document()) };
}

function toEvent(
  { account, generation, knownUntil, filingBytesMax }: ObservationContext,
  id: string,
  before: FilingState | null,
  { type, next, changed, inferred }: Detection & { kind: 'change' },
  window: ComparedSpan,
  document: FilingDocument,
): NewEvent {
  const until = knownUntil(id, before, document);
  const change = {
    account,
    generation,
    filingId: id,
    type,
    sequence: next.sequence,
    before,
    after: next,
    changed,
    inferred,
    // What a clock that was ahead has told of the filing is not known.
    notBefore: until > window.end + clockStepMsMin ? 0 : Math.min(until, window.end),
    notAfter: window.end,
    document,
  };
  return buildFilingEvent(change, filingBytesMax);
}
