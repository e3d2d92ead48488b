import { buildFilingEvent, type NewEvent } from '../../events/event.ts';
import { createdAtOf, type PartnerFiling } from '../../partner/filing-schema.ts';
import { clockStepMsMin } from '../../redis/clock.ts';
import { isInIndex } from './age-rank.ts';
import {
  detectChange,
  detectCorrection,
  detectPassed,
  detectRemoval,
  type Detection,
  type ComparedSpan,
} from './detect-change.ts';
import type { Deadlines, PassedDeadline } from './deadlines.ts';
import { shownDueDate } from './due-dates.ts';
import { effectiveDate, toDetails, type FilingDetails } from './filing-details.ts';
import {
  isShownBy,
  isSinceFirstRead,
  type EffectiveDate,
  type FilingState,
  type StoredState,
} from './filing-state.ts';
import { lookAlikeKey } from './look-alike.ts';
import { maySee, type TriageRecord } from './triage.ts';

/** The document of a filing as the partner service returned it, or null if it returned none. */
export type FilingDocument = Readonly<Record<string, unknown>> | null;

/** One filing as read, or the fact that the partner service does not know the id (`filing` null). */
export interface Observation {
  readonly id: string;
  readonly filing: PartnerFiling | null;
}

/** The facts that the poll knows and a single read does not. */
export interface DecisionContext {
  readonly account: string;
  /** The generation of the snapshot that the poll found. */
  readonly generation: string;
  /**
   * Whether a filing never seen before is new. A filing of the baseline is not, and is added without an
   * event.
   */
  readonly announces: (id: string) => boolean;
  /**
   * Latest time (ms, Redis's clock) at which a filing is known to have been as stored or, with `previous`
   * null, not to have existed.
   */
  readonly notBefore: (id: string, previous: FilingState | null, document: FilingDocument) => number;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  readonly deadlines: Deadlines;
  /** The filings that may have passed one of them. */
  readonly late: LateFilings;
}

/** A filing that may have passed a deadline. */
export interface LateFiling {
  /** Whether a person has taken note of its rejection. */
  readonly seen: boolean;
}

/** Such filings by their ids. */
export type LateFilings = ReadonlyMap<string, LateFiling>;

/** The commit of one filing, written only if the stored state is still `previous`. */
export interface FilingCommit {
  readonly id: string;
  readonly previous: StoredState | null;
  readonly next: FilingState;
  /** The details to be kept from now on. Null removes the stored details, 'kept' leaves them as they are. */
  readonly details: FilingDetails | null | 'kept';
  readonly event: NewEvent | null;
  /** The notes to be kept from now on. Null removes the stored notes; left out, they stay as they are. */
  readonly triage?: TriageRecord | null;
  /** True if `completedAt` changed and the status did not; missing otherwise. */
  readonly movesTime?: true;
  /** Missing if the filing does not appear with an event, or looks like no other. */
  readonly appearance?: Appearance;
  /** Written in one step with this commit, or neither is. */
  readonly joined?: FilingCommit;
}

/** A filing that was never seen before, or was removed. */
export interface Appearance {
  /** See `lookAlikeKey`. */
  readonly lookAlike: string;
  /** The filing's own `createdAt` in milliseconds; NaN if its document gives none. */
  readonly createdAt: number;
}

/** The consequence of one observation. */
export type Decision =
  | { readonly kind: 'nothing' }
  /** A newer read was applied before; it began at `since` (ms, Redis's clock). */
  | { readonly kind: 'outdated'; readonly since: number }
  | { readonly kind: 'commit'; readonly commit: FilingCommit };

/**
 * Whether an observation surely changes nothing: it equals the stored state, and the filing can have passed
 * no deadline. Only the text is compared, so false may also mean that decoding is needed to find out.
 */
export function isAsStored(
  { late }: Pick<DecisionContext, 'late'>,
  { id, filing }: Observation,
  previous: StoredState | null,
): boolean {
  if (previous === null || filing === null || !isShownBy(previous.text, filing)) return false;
  return !late.has(id);
}

/** Decides what one observation changes; `span` is as `comparedSpan` gives it. */
export function decideCommit(
  context: DecisionContext,
  observation: Observation,
  previous: StoredState | null,
  span: ComparedSpan,
): Decision {
  const known = previous?.state ?? null;
  const detection = detect(context, observation, known, span);
  if (detection.kind === 'unchanged') return { kind: 'nothing' };
  if (detection.kind === 'outdated') return { kind: 'outdated', since: known?.readFrom ?? 0 };
  const { id, filing } = observation;
  // The document is parsed out of its page only on request; a baseline of a million COMPLETED filings needs
  // none.
  let parsed: FilingDocument | undefined;
  const document = () => (parsed ??= filing?.document() ?? null);
  const details = isInIndex(detection.next) ? toDetails(document()) : null;
  const next = withRejection(withDetails(detection.next, details), document);
  const event =
    detection.kind === 'silent' ? null : eventOf(context, observation, known, detection, span, document());
  const moves = movesTime(detection) ? { movesTime: true as const } : {};
  const isThere = known === null || (known.removed && !next.removed);
  const appears = event !== null && isThere ? appearanceOf(document()) : {};
  return { kind: 'commit', commit: { id, previous, next, details, event, ...moves, ...appears } };
}

// Rejections have the key by which others find them, and the best bound of their age.
function withRejection(
  { lookAlike: _key, created: _bound, ...next }: FilingState,
  document: () => FilingDocument,
): FilingState {
  if (!maySee(next)) return next;
  const key = lookAlikeKey(document());
  const created = isSinceFirstRead(next) ? createdAtOf(document()) : Number.NaN;
  return {
    ...next,
    ...(key === null ? {} : { lookAlike: key }),
    ...(created > 0 && created < next.since ? { created: Math.trunc(created) } : {}),
  };
}

function appearanceOf(document: FilingDocument): Pick<FilingCommit, 'appearance'> {
  const lookAlike = lookAlikeKey(document);
  return lookAlike === null ? {} : { appearance: { lookAlike, createdAt: createdAtOf(document) } };
}

// The state of a filing with the date in its details; without details no date is kept, and no warning before
// it.
function withDetails(
  { effective: _effective, warned, ...state }: FilingState,
  details: FilingDetails | null,
): FilingState {
  const effective = details === null ? null : effectiveDate(details);
  return {
    ...state,
    ...(effective === null ? {} : { effective }),
    ...(warned === undefined || details === null ? {} : { warned }),
  };
}

function detect(
  { announces, deadlines, late }: DecisionContext,
  { id, filing }: Observation,
  previous: FilingState | null,
  span: ComparedSpan,
): Detection {
  if (filing === null) return previous === null ? { kind: 'unchanged' } : detectRemoval(previous, span);
  const change = detectChange(previous, filing, span, announces(id));
  const lateFiling = late.get(id);
  if (change.kind !== 'unchanged' || previous === null || lateFiling === undefined) return change;
  // Its date may have been corrected since its last change: that is written first.
  const { effective } = withDetails(previous, toDetails(filing.document()));
  return isSameDate(effective, previous.effective)
    ? detectPassed(previous, deadlines, span, lateFiling.seen)
    : detectCorrection(previous, span);
}

function isSameDate(a: EffectiveDate | undefined, b: EffectiveDate | undefined): boolean {
  return a?.at === b?.at && a?.stateAbbr === b?.stateAbbr;
}

function movesTime(detection: Detection): boolean {
  if (detection.kind !== 'change' || detection.type === 'filing.restored') return false;
  return detection.changed.includes('completedAt') && !detection.changed.includes('status');
}

function eventOf(
  { account, generation, notBefore, filingBytesMax, deadlines, late }: DecisionContext,
  { id: filingId, filing }: Observation,
  before: FilingState | null,
  { type, next, changed, inferred, passed }: Detection & { kind: 'change' },
  span: ComparedSpan,
  document: FilingDocument,
): NewEvent {
  const until = notBefore(filingId, before, document);
  const change = {
    account,
    generation,
    filingId,
    type,
    sequence: next.sequence,
    before,
    after: next,
    changed,
    inferred,
    // A time after the read comes from a clock that was ahead, and proves nothing.
    notBefore: until > span.end + clockStepMsMin ? 0 : Math.min(until, span.end),
    notAfter: span.end,
    document,
    ...shownDueDate(deadlines.due, effectiveDateOf(document)),
    ...(passed === undefined ? {} : reportOf(passed, next.since, late.get(filingId)?.seen === true)),
    ...(filing?.heavyBytes === undefined ? {} : { heavyBytes: filing.heavyBytes }),
  };
  return buildFilingEvent(change, filingBytesMax);
}

function effectiveDateOf(document: FilingDocument): EffectiveDate | undefined {
  const details = toDetails(document);
  return (details && effectiveDate(details)) ?? undefined;
}

function reportOf(passed: PassedDeadline, since: number, seen: boolean) {
  if (passed.type === 'filing.stalled') return { stalled: { since, after: passed.limit.after, seen } };
  return { due: { dueAt: passed.dueAt, threshold: passed.warning.after, seen } };
}
