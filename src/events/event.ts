import { createHash } from 'node:crypto';
import { answerType, snapshotType } from './event-types.ts';
import { cutText } from '../json/cut-text.ts';

/** An event ready for the log. Its body is signed and sent, byte for byte, on every attempt and replay. */
export interface NewEvent {
  /** The `webhook-id`, derived from the content: the same change detected twice has the same id. */
  readonly id: string;
  readonly type: string;
  /** The filing that it is about; empty for operational events, which share one lane of their own. */
  readonly filingId: string;
  /** State abbreviation for the `states` filter; empty if unknown. */
  readonly state: string;
  /** The filing's status after the event, for the `statuses` filter; empty for operational events. */
  readonly status: string;
  readonly body: string;
  /** Bytes of the filing, set only if it was too large for the body. */
  readonly omittedBytes?: number;
}

/** Values of a filing on one side of a change, as they go into the id. */
export interface Side {
  readonly status: string;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
  readonly removed: boolean;
  /** The filing that answers the rejection; missing without one. Only its own event's id depends on it. */
  readonly answeredBy?: string;
}

/** What is kept of a filing of which there is no document. */
export interface KeptDetails {
  readonly stateAbbr: string | null;
}

/** A person's note on a filing, as its event reports it. */
export interface EventNote {
  readonly by: string;
  readonly kind: 'seen' | 'note' | 'assigned' | 'undone';
  readonly text: string | null;
  /** The person to whom the filing is assigned from now on; null for none. */
  readonly assignee: string | null;
}

/** Everything that a filing event reports. Times are milliseconds on Redis's clock. */
export interface FilingChange {
  readonly account: string;
  /**
   * The snapshot's generation. A snapshot begun anew numbers its events anew and must not use an id again.
   */
  readonly generation: string;
  readonly filingId: string;
  readonly type: string;
  readonly sequence: number;
  readonly before: Side | null;
  readonly after: Side;
  readonly changed: readonly string[];
  readonly inferred: boolean;
  readonly notBefore: number;
  readonly notAfter: number;
  /** The filing as the partner service returned it, or null if it is removed or not kept. */
  readonly document: Readonly<Record<string, unknown>> | null;
  /** Replaces a document that is not kept; missing if the service was read. */
  readonly details?: KeptDetails | null;
  /**
   * When (ms) it entered its status, the limit that this exceeds, and whether a person has seen it. Set only
   * if the event reports that.
   */
  readonly stalled?: { readonly since: number; readonly after: string; readonly seen: boolean };
  /** When (ms) the filing is due; null if it has no due date, missing if the account has no such rules. */
  readonly dueAt?: number | null;
  /**
   * The due date (ms), how long before it the event is sent, and whether a person has seen the filing. Set
   * only if the event reports that.
   */
  readonly due?: { readonly dueAt: number; readonly threshold: string; readonly seen: boolean };
  /** Missing unless the event reports a person's note. */
  readonly note?: EventNote;
  /** Bytes of a filing that was too large to be read as a whole, so that `document` is a part of it. */
  readonly heavyBytes?: number;
}

// Maximum bytes of a body besides the filing; the longest reason that the partner service may give fits.
const otherBytesMax = 131_072;

// Maximum characters of a text in a body that would be larger.
const cutTextMax = 1_000;

/**
 * Builds the event of a filing's change (docs/webhooks.md#event-types). The same change gives the same id. A
 * filing of more than `filingBytesMax` bytes, or with `heavyBytes`, is left out of the body, and `omitted` is
 * set. The same happens if the rest of the body would exceed 128 KiB; its long texts are cut as well. So the
 * event can be stored and sent, whatever was read.
 */
export function buildFilingEvent(change: FilingChange, filingBytesMax = Infinity): NewEvent {
  const { after, before, document, details, heavyBytes, stalled, due, note } = change;
  const written = JSON.stringify(document);
  const filingBytes = heavyBytes ?? (document === null ? 0 : Buffer.byteLength(written));
  const { text, isCut } = dataText(membersOf(change));
  const isTooLarge = isCut || heavyBytes !== undefined || filingBytes > filingBytesMax;
  const id = contentId([
    change.account,
    change.generation,
    change.filingId,
    change.sequence,
    before && sideParts(before),
    sideParts(after),
    ...(stalled === undefined ? [] : [stalled.since, stalled.after]),
    ...(note === undefined ? [] : [note]),
    ...(change.type === answerType ? ['answered by', after.answeredBy ?? null] : []),
    ...(due === undefined ? [] : ['due', due.dueAt, due.threshold]),
  ]);
  const isKept = document !== null || details === undefined;
  const shown = isKept ? `"filing":${written}` : notKept(details);
  const event = eventOf(change, id, text, isTooLarge ? '"omitted":"too_large"' : shown);
  return isTooLarge ? { ...event, omittedBytes: filingBytes } : event;
}

// The members of `data` besides the filing.
function membersOf(change: FilingChange): object {
  const { after, stalled, dueAt, due, note } = change;
  const isAnswer = change.type === answerType;
  return {
    account: change.account,
    filingId: change.filingId,
    status: after.status,
    previousStatus: change.before?.status ?? null,
    rejectionReason: after.rejectionReason,
    completedAt: after.completedAt,
    sequence: change.sequence,
    changed: change.changed,
    observed: { notBefore: isoTime(change.notBefore), notAfter: isoTime(change.notAfter) },
    inferred: change.inferred,
    ...(stalled === undefined
      ? {}
      : { stalled: { status: after.status, ...stalled, since: isoTime(stalled.since) } }),
    ...(note === undefined ? {} : { note }),
    ...(after.answeredBy === undefined && !isAnswer ? {} : { answeredBy: after.answeredBy ?? null }),
    ...(dueAt === undefined ? {} : { dueAt: dueAt === null ? null : isoTime(dueAt) }),
    ...(due === undefined ? {} : { due: { ...due, dueAt: isoTime(due.dueAt) } }),
  };
}

// A heavy filing is written once. It comes last, so that formats find it without parsing.
function eventOf(change: FilingChange, id: string, data: string, filing: string): NewEvent {
  const { type, filingId, document, details, after, notAfter: at } = change;
  return {
    id,
    type,
    filingId,
    state: stateAbbreviation(document) || (details?.stateAbbr ?? ''),
    status: after.status,
    body: `${JSON.stringify(envelope({ id, type, at })).slice(0, -1)},"data":${data},${filing}}}`,
  };
}

// The members of `data` that replace a filing of which only details are kept; `details` is null without any.
function notKept(details: KeptDetails | null): string {
  return `"omitted":"not_kept","details":${JSON.stringify(details)}`;
}

// The members of `data` besides the filing, without the last brace. Long texts are cut if they are too large.
function dataText(members: object): { text: string; isCut: boolean } {
  const whole = JSON.stringify(members);
  const isCut = Buffer.byteLength(whole) > otherBytesMax;
  return { text: (isCut ? JSON.stringify(cutTexts(members)) : whole).slice(0, -1), isCut };
}

interface NamedEvent {
  readonly id: string;
  readonly type: string;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

// The members of a body before `data`.
function envelope({ id, type, at }: NamedEvent): object {
  return { id, type, timestamp: isoTime(at) };
}

/** A filing as it is, for one subscription that begins with what is. */
export interface FilingSnapshot {
  readonly account: string;
  readonly generation: string;
  readonly subscription: string;
  readonly filingId: string;
  readonly state: Omit<Side, 'removed'> & {
    readonly sequence: number;
    /** Start and end of the read that led to the state, milliseconds on Redis's clock. */
    readonly readFrom: number;
    readonly readAt: number;
  };
  /** The kept fields of the filing, by which people recognise it, or null if none are kept. */
  readonly details: KeptDetails | null;
  /** The filing as its last event carried it, or null if it is not kept. */
  readonly document: Readonly<Record<string, unknown>> | null;
  /** As in `FilingChange`. */
  readonly dueAt?: number | null;
}

/**
 * Builds the `filing.snapshot` of a filing for one subscription. The same state gives the same id. If the
 * document is not kept, the body has `omitted` in its place, and `details` if there are any.
 */
export function buildSnapshotEvent(
  { subscription, state, ...snapshot }: FilingSnapshot,
  filingBytesMax = Infinity,
): NewEvent {
  const { account, generation, filingId, document, details } = snapshot;
  const { sequence, readFrom: notBefore, readAt: notAfter } = state;
  const after = { ...state, removed: false };
  const said = { before: null, after, changed: [], inferred: false, notBefore, notAfter };
  const change = { ...snapshot, ...said, type: snapshotType, sequence };
  const written = JSON.stringify(document);
  const isKept = document !== null && Buffer.byteLength(written) <= filingBytesMax;
  const id = contentId([account, generation, filingId, sequence, 'snapshot', subscription]);
  const filing = isKept ? `"filing":${written}` : notKept(details);
  return eventOf(change, id, dataText(membersOf(change)).text, filing);
}

/**
 * Builds an operational event (`account.*`, `subscription.*`). `occasion` names the occurrence: reporting the
 * same one twice gives the same id. Texts of more than a thousand characters are cut.
 */
export function buildOperationalEvent(
  account: string,
  type: string,
  occasion: string,
  at: number,
  details: Readonly<Record<string, unknown>>,
): NewEvent {
  const id = contentId([account, type, occasion]);
  return {
    id,
    type,
    filingId: '',
    state: '',
    status: '',
    body: JSON.stringify({ ...envelope({ id, type, at }), data: { account, ...cutTexts(details) } }),
  };
}

// Its long texts, as their beginnings.
function cutTexts<T extends object>(members: T): T {
  const cut = Object.entries(members).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' && value.length > cutTextMax
      ? `${cutText(value, cutTextMax)}…`.toWellFormed()
      : value,
  ]);
  return Object.fromEntries(cut) as T;
}

function sideParts(side: Side): readonly unknown[] {
  return [side.status, side.completedAt, side.rejectionReason, side.removed];
}

// 128 bits of SHA-256: Standard Webhooks wants an id without dots that users do not control.
function contentId(parts: readonly unknown[]): string {
  return `evt_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

// Maximum characters. Filters of subscriptions are shorter, so a text that is cut matches none.
const stateLengthMax = 200;

/** `filingState.stateAbbr` of a filing document, cut after 200 characters, or the empty string. */
export function stateAbbreviation(document: Readonly<Record<string, unknown>> | null): string {
  const state = document?.['filingState'] as { stateAbbr?: unknown } | null | undefined;
  return typeof state?.stateAbbr === 'string' ? cutText(state.stateAbbr, stateLengthMax) : '';
}
