import type { FilingEventType } from '../../events/event-types.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { filingStatuses, isSettled } from '../../partner/filing-statuses.ts';
import { clockStepMsMin } from '../../redis/clock.ts';
import { passedDeadline, reportedMark, type Deadlines, type PassedDeadline } from './deadlines.ts';
import { stayMarks, type FilingState, type ShownState } from './filing-state.ts';
import { isInstant, isSameInstant } from './same-instant.ts';

/** A read's time span and the time of its comparison. */
export interface ComparedSpan extends ReadSpan {
  /**
   * The time of the comparison, right after Redis was asked for its time. Missing: now, on the clock of start
   * and end.
   */
  readonly compared?: Compared;
}

/** Redis's clock at the moment of a comparison, in milliseconds. */
export interface Compared {
  readonly at: number;
  /** The time since which the clock is known not to have stepped. */
  readonly steadySince: number;
}

/** The meaning of one read for the known state. */
export type Detection =
  | { readonly kind: 'unchanged' }
  /**
   * The read started before the end of the read that last changed the state, so it may be older than the
   * known state.
   */
  | { readonly kind: 'outdated' }
  /** The state moves on without an event: in the baseline, or for a field that no event type covers. */
  | { readonly kind: 'silent'; readonly next: FilingState }
  | {
      readonly kind: 'change';
      readonly type: FilingEventType;
      readonly changed: readonly string[];
      /**
       * True if the read proves a round trip that no read has shown, for example COMPLETED with another
       * `completedAt`.
       */
      readonly inferred: boolean;
      readonly next: FilingState;
      /** The deadline that the filing has passed, if that is what is reported. */
      readonly passed?: PassedDeadline;
    };

/**
 * Compares one read with the known state. `previous` is null for a filing never seen before; with
 * `announceNew` false (the baseline) such a filing is added without an event. One detection leads to at most
 * one event (docs/webhooks.md#event-types).
 */
export function detectChange(
  previous: FilingState | null,
  read: ShownState,
  span: ComparedSpan,
  announceNew: boolean,
): Detection {
  if (previous === null) return firstSight(read, span, announceNew);
  const changed = changedFields(previous, read);
  const restates = previous.restate === true;
  if (changed.length === 0 && !previous.removed && !restates) return { kind: 'unchanged' };
  if (isOutdated(previous, span)) return { kind: 'outdated' };

  const statusMoved = changed.includes('status');
  const next: FilingState = {
    ...pick(read),
    sequence: previous.sequence,
    since: statusMoved ? span.end : previous.since,
    readFrom: span.start,
    readAt: span.end,
    removed: false,
    ...(statusMoved ? {} : stayMarks(previous)),
    ...(previous.warned === undefined ? {} : { warned: previous.warned }),
  };
  const type =
    previous.removed && !restates
      ? 'filing.restored'
      : eventType(previous.status, read.status, statusMoved || restates);
  if (type === null) return { kind: 'silent', next };
  return {
    kind: 'change',
    type,
    changed,
    inferred: !statusMoved && !previous.removed && !restates && provesRoundTrip(previous, read),
    next: { ...next, sequence: previous.sequence + 1 },
  };
}

/**
 * The partner service no longer knows a filing (404 on two polls). Only `removed` changes; a rejection is not
 * answered any more.
 */
export function detectRemoval(previous: FilingState, span: ComparedSpan): Detection {
  const { restate, answeredBy: _answer, ...known } = previous;
  if (previous.removed && restate !== true) return { kind: 'unchanged' };
  if (isOutdated(previous, span)) return { kind: 'outdated' };
  const next = { ...stayed(known, span), removed: true };
  return { kind: 'change', type: 'filing.removed', changed: [], inferred: false, next };
}

/**
 * Whether a filing that a read shows unchanged has passed a deadline that was not reported yet; `isSeen` as
 * in `passedDeadline`.
 */
export function detectPassed(
  previous: FilingState,
  deadlines: Deadlines,
  span: ComparedSpan,
  isSeen = false,
): Detection {
  const passed = passedDeadline(deadlines, previous, span.start, isSeen);
  if (passed === null || isOutdated(previous, span)) return { kind: 'unchanged' };
  const next = { ...stayed(previous, span), ...reportedMark(previous, passed) };
  return { kind: 'change', type: passed.type, changed: [], inferred: false, next, passed };
}

// The state after an event that leaves a filing in its status.
function stayed(state: FilingState, { start, end }: ComparedSpan): FilingState {
  return { ...state, ...stayMarks(state), sequence: state.sequence + 1, readFrom: start, readAt: end };
}

/** Fields that no event type covers have changed since the last change of a filing. */
export function detectCorrection(previous: FilingState, span: ComparedSpan): Detection {
  if (isOutdated(previous, span)) return { kind: 'unchanged' };
  return { kind: 'silent', next: { ...previous, readFrom: span.start, readAt: span.end } };
}

function firstSight(read: ShownState, span: ComparedSpan, announce: boolean): Detection {
  const next: FilingState = {
    ...pick(read),
    sequence: announce ? 1 : 0,
    since: span.end,
    readFrom: span.start,
    readAt: span.end,
    removed: false,
  };
  if (!announce) return { kind: 'silent', next };
  return { kind: 'change', type: 'filing.created', changed: ['status'], inferred: false, next };
}

function pick({ status, completedAt, rejectionReason }: ShownState): ShownState {
  return { status, completedAt, rejectionReason };
}

function changedFields(previous: ShownState, read: ShownState): string[] {
  const changed: string[] = [];
  if (previous.status !== read.status) changed.push('status');
  if (!isSameInstant(previous.completedAt, read.completedAt)) changed.push('completedAt');
  if (!isSameText(previous.rejectionReason, read.rejectionReason)) changed.push('rejectionReason');
  return changed;
}

// White space and the form of letters change with the way that a text takes, as from a form to a database.
function isSameText(a: string | null, b: string | null): boolean {
  const words = (text: string | null) => (text ?? '').normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return a === b || words(a) === words(b);
}

/**
 * A read's span as it is to be compared. If Redis's clock was set during or since the read, the error of the
 * read's times is unknown. The span then begins before the clock was set and ends with the comparison.
 */
export function comparedSpan({ start, end }: ComparedSpan, compared: Compared): ComparedSpan {
  const { at, steadySince } = compared;
  const isTimed = start >= steadySince && end <= at + clockStepMsMin;
  return isTimed ? { start, end, compared } : { start: Math.min(start, steadySince - 1), end: at, compared };
}

/**
 * Whether the read gives way to the known state. Their order is unknown within one millisecond, and if
 * Redis's clock was set between them; then the next read decides. A state from the future was written while
 * that clock was ahead. Every read that began after the clock was corrected is newer, so the filing need not
 * wait until the clock reaches that time.
 */
function isOutdated({ readAt }: FilingState, { start, compared }: ComparedSpan): boolean {
  if (compared === undefined) return start <= readAt;
  return start < compared.steadySince || (start <= readAt && readAt <= compared.at + clockStepMsMin);
}

const typeOfStatus: ReadonlyMap<string, FilingEventType> = new Map(
  filingStatuses.map(({ status, event }) => [status, event]),
);

function eventType(before: string, after: string, statusMoved: boolean): FilingEventType | null {
  const type = typeOfStatus.get(after) ?? 'filing.status_changed';
  if (!statusMoved) return isSettled(after) ? type : null;
  return before === 'COMPLETED' && after === 'PENDING' ? 'filing.reopened' : type;
}

// The service sets `completedAt` when the status becomes COMPLETED (docs/partner.md#statuses). If it moved
// although the status is the same, the filing has been through COMPLETED in between. A text that names no
// moment proves nothing.
function provesRoundTrip(previous: ShownState, read: ShownState): boolean {
  if (!isInstant(read.completedAt) || isSameInstant(previous.completedAt, read.completedAt)) return false;
  return read.status === 'REJECTED' || isInstant(previous.completedAt);
}
