import { buildFilingEvent, stateAbbreviation, type NewEvent } from '../events/event.ts';
import type { PartnerFiling } from '../partner/filing-schema.ts';
import { detectChange, detectRemoval, type Detection, type Window } from './detect-change.ts';
import type { FilingState } from './filing-state.ts';
import type { FilingCommit, FilingDetails, SnapshotStore, StoredState } from './snapshot-store.ts';

/** An event that a commit has put into the log. */
export interface RecordedEvent {
  readonly position: number;
  readonly type: string;
  readonly filingId: string;
  readonly state: string;
}

/** What the poll knows that a single read does not. */
export interface ObservationContext {
  readonly account: string;
  /** Of the snapshot, as the poll found it. */
  readonly generation: string;
  /** False while the baseline is not complete: filings never seen are taken in without an event. */
  readonly announceNew: boolean;
  /** Latest time (ms, Redis's clock) at which a filing is known to have been as stored; null is a filing never seen. */
  readonly unchangedAt: (previous: FilingState | null) => number;
}

/** One filing as read, or the fact that the partner service does not know the id (`filing` null). */
export interface Observation {
  readonly id: string;
  readonly filing: PartnerFiling | null;
}

export interface ObserveDeps {
  readonly snapshot: SnapshotStore;
  readonly now: () => number;
}

const conflictRetriesMax = 10;

/**
 * Compares what one request read with the snapshot, writes every difference and appends its event. Returns the events
 * written, in log order. Conflicting writers are met by reading and deciding again, so nothing is written twice.
 */
export async function observeFilings(
  deps: ObserveDeps,
  context: ObservationContext,
  observations: readonly Observation[],
  window: Window,
): Promise<RecordedEvent[]> {
  const recorded: RecordedEvent[] = [];
  let open = observations;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > conflictRetriesMax)
      throw new Error(`${open.length} filings changed under every attempt to commit`);
    const states = await deps.snapshot.read(
      context.account,
      open.map(({ id }) => id),
    );
    const steps = open.map((observation, i) => decide(context, observation, states[i] ?? null, window));
    const due = steps.flatMap((commit, i) => (commit === null ? [] : [{ commit, observation: open[i] }]));
    const results = await deps.snapshot.commit(
      context.account,
      context.generation,
      due.map(({ commit }) => commit),
      deps.now(),
    );
    open = due.flatMap(({ commit, observation }, i) => {
      const result = results[i];
      if (result?.kind === 'conflict') return observation === undefined ? [] : [observation];
      if (commit.event !== null && result?.position != null)
        recorded.push({ ...commit.event, position: result.position });
      return [];
    });
  }
  return recorded;
}

function decide(
  context: ObservationContext,
  { id, filing }: Observation,
  previous: StoredState | null,
  window: Window,
): FilingCommit | null {
  const detection = detect(context, filing, previous?.state ?? null, window);
  if (detection === null || detection.kind === 'unchanged' || detection.kind === 'outdated') return null;
  const document = filing?.document() ?? null;
  const event =
    detection.kind === 'change'
      ? toEvent(context, id, document, previous?.state ?? null, detection, window)
      : null;
  return { id, previous, next: detection.next, details: toDetails(document), event };
}

function detect(
  context: ObservationContext,
  filing: PartnerFiling | null,
  previous: FilingState | null,
  window: Window,
): Detection | null {
  if (filing !== null) return detectChange(previous, filing, window, context.announceNew);
  return previous === null ? null : detectRemoval(previous, window);
}

function toEvent(
  context: ObservationContext,
  filingId: string,
  document: Readonly<Record<string, unknown>> | null,
  previous: FilingState | null,
  change: Detection & { kind: 'change' },
  window: Window,
): NewEvent {
  return buildFilingEvent({
    account: context.account,
    filingId,
    type: change.type,
    sequence: change.next.sequence,
    before: previous,
    after: change.next,
    changed: change.changed,
    inferred: change.inferred,
    notBefore: Math.min(Math.max(context.unchangedAt(previous), previous?.readFrom ?? 0), window.end),
    notAfter: window.end,
    document,
  });
}

function toDetails(document: Readonly<Record<string, unknown>> | null): FilingDetails | null {
  if (document === null) return null;
  const text = (key: string) => (typeof document[key] === 'string' ? document[key].slice(0, 200) : null);
  return {
    policyNumber: text('policyNumber'),
    insuredsName: text('insuredsName'),
    stateAbbr: stateAbbreviation(document) || null,
    filingType: text('filingType'),
    premium: toNumber(document['premium']),
  };
}

// The exact document holds numbers such as 1200.10 as raw JSON, not as a number.
function toNumber(value: unknown): number | null {
  const number = Number(JSON.stringify(value) ?? Number.NaN);
  return typeof value === 'string' || value === null || !Number.isFinite(number) ? null : number;
}
