import { createHash } from 'node:crypto';
import type { EventNote } from '../../events/event.ts';
import { orNull } from '../../json/or-null.ts';
import { parseShaped } from '../../redis/unreadable-record.ts';
import type { FilingState } from './filing-state.ts';

/** A person's note that they have seen a rejection. */
export interface SeenMark {
  readonly by: string;
  readonly note: string | null;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** A text that a person wrote about a filing. */
export interface WrittenNote {
  readonly by: string;
  readonly text: string;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/** The notes of people on a filing, as they are now. */
export interface Triage {
  /** Null if no person has seen the present rejection, and in other statuses. */
  readonly seen: SeenMark | null;
  /** The person to whom the filing is assigned; null for none. */
  readonly assignee: string | null;
  /** The latest text, also one that came with a mark; null for none. */
  readonly note: WrittenNote | null;
}

/** The notes on a filing as they are stored; a mark belongs to the stay in which it was made. */
export interface TriageRecord extends Triage {
  readonly seen: (SeenMark & { readonly stay: string }) | null;
}

/** A person's step with a filing. */
export type TriageStep =
  | { readonly kind: 'seen'; readonly by: string; readonly text: string | null }
  | { readonly kind: 'undone'; readonly by: string }
  | { readonly kind: 'note'; readonly by: string; readonly text: string }
  | { readonly kind: 'assigned'; readonly by: string; readonly assignee: string | null };

/** The only status in which a filing is marked as seen. */
export const seenStatus = 'REJECTED';

/** Whether a filing in this state may be marked as seen. */
export function maySee({ status, removed }: Pick<FilingState, 'status' | 'removed'>): boolean {
  return status === seenStatus && !removed;
}

/** Whether a filing in this state is rejected, and no other filing answers it. */
export function isOpenRejection(state: Pick<FilingState, 'status' | 'removed' | 'answeredBy'>): boolean {
  return maySee(state) && state.answeredBy === undefined;
}

const nothing: TriageRecord = { seen: null, assignee: null, note: null };

/** The notes in a stored text on a filing in this state. A text that is no record has none. */
export function triageOf(text: string | null, state: FilingState): Triage {
  const record = readRecord(text);
  return { ...record, seen: standingMark(record, state) };
}

/**
 * The record after a step, null for an empty one, and the step as its event reports it; or why the step
 * changes nothing. `at` is in milliseconds on Redis's clock.
 */
export function afterStep(
  text: string | null,
  state: FilingState,
  step: TriageStep,
  at: number,
): { readonly record: TriageRecord | null; readonly note: EventNote } | 'unchanged' | 'not_rejected' {
  if (step.kind === 'seen' && !maySee(state)) return 'not_rejected';
  const record = readRecord(text);
  const next = applied(record, standingMark(record, state), step, stayOf(state), at);
  if (next === null) return 'unchanged';
  const { assignee } = next;
  const note = { by: step.by, kind: step.kind, text: 'text' in step ? step.text : null, assignee };
  const isEmpty = next.seen === null && assignee === null && next.note === null;
  return { record: isEmpty ? null : next, note };
}

function applied(
  record: TriageRecord,
  standing: SeenMark | null,
  step: TriageStep,
  stay: string,
  at: number,
): TriageRecord | null {
  const { by } = step;
  switch (step.kind) {
    case 'seen': {
      const { text } = step;
      if (standing?.by === by && standing.note === text) return null;
      const note = text === null ? record.note : { by, text, at };
      return { ...record, seen: { by, note: text, at, stay }, note };
    }
    case 'undone':
      return standing === null ? null : { ...record, seen: null };
    case 'note': {
      const { text } = step;
      return record.note?.by === by && record.note.text === text
        ? null
        : { ...record, note: { by, text, at } };
    }
    case 'assigned': {
      const { assignee } = step;
      return record.assignee === assignee ? null : { ...record, assignee };
    }
  }
}

function standingMark({ seen }: TriageRecord, state: FilingState): SeenMark | null {
  if (seen === null || !maySee(state) || seen.stay !== stayOf(state)) return null;
  return { by: seen.by, note: seen.note, at: seen.at };
}

// Characters of a hash that tell reasons apart.
const hashLength = 16;

// A reason may be long.
function stayOf({ since, rejectionReason }: FilingState): string {
  const hash = createHash('sha256')
    .update(rejectionReason ?? '')
    .digest('hex');
  return `${since} ${hash.slice(0, hashLength)}`;
}

function readRecord(text: string | null): TriageRecord {
  const record = orNull(() =>
    text === null ? null : parseShaped<TriageRecord>(text, { seen: 'object', note: 'object' }),
  );
  return record !== null && isSigned(record.seen) && isSigned(record.note) ? record : nothing;
}

function isSigned(noted: SeenMark | WrittenNote | null): boolean {
  return noted === null || (typeof noted.by === 'string' && typeof noted.at === 'number');
}
