import { orNull } from '../../json/or-null.ts';
import { filingStatuses } from '../../partner/filing-statuses.ts';

/**
 * The daemon's memory of one filing: enough to detect the next change, without the document. Times are
 * milliseconds on Redis's clock.
 */
export interface FilingState {
  readonly status: string;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
  /** Number of events of this filing so far; 0 for a filing known from the baseline only. */
  readonly sequence: number;
  /** End of the read that first showed the present status. */
  readonly since: number;
  /** Start of the last read that changed this state. */
  readonly readFrom: number;
  /** End of that read. A read that did not start after it may be older than the known state. */
  readonly readAt: number;
  /** True once the partner service did not know the filing on two polls. */
  readonly removed: boolean;
  /**
   * True if receivers may have received another state than this one. The next read then leads to an event
   * even without a change.
   */
  readonly restate?: boolean;
  /**
   * The limits (ms) for the filing's stay in the present status whose `filing.stalled` was appended; missing
   * if none was.
   */
  readonly stalled?: readonly number[];
  /**
   * True if the filing already had this status at its first read, and has had an event since; see
   * `isSinceFirstRead`.
   */
  readonly firstRead?: boolean;
  /** The date from which deadlines count; missing if unknown, and for filings that are in no index. */
  readonly effective?: EffectiveDate;
  /**
   * The filing's own `createdAt` (ms), for a rejection that was so at its first read: it cannot be older.
   * Missing if unknown or later than that read.
   */
  readonly created?: number;
  /** The key that a filing that answers it has too (`lookAlikeKey`); only while it is REJECTED. */
  readonly lookAlike?: string;
  /** The filing that answers the rejection; missing if none does. */
  readonly answeredBy?: string;
  /** The last warning before a due date whose `filing.due` was appended; missing if none was. */
  readonly warned?: Warned;
}

/** A warning before a due date. */
export interface Warned {
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** How many milliseconds before. */
  readonly ms: number;
}

/** The effective date of a filing, and the state in which it is filed. */
export interface EffectiveDate {
  /** Two capital letters; empty if the document has anything else. */
  readonly stateAbbr: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Whether the filing has been in its status since the baseline, so that `since` is the time of its first read
 * and it is not known when it came into the status.
 */
export function isSinceFirstRead({
  sequence,
  firstRead,
}: Pick<FilingState, 'sequence' | 'firstRead'>): boolean {
  return sequence === 0 || firstRead === true;
}

/**
 * The marks that last as long as the filing's stay in its status; to be kept by an event that leaves it
 * there.
 */
export function stayMarks(state: FilingState): Pick<FilingState, 'stalled' | 'firstRead' | 'answeredBy'> {
  return {
    ...(state.stalled === undefined ? {} : { stalled: state.stalled }),
    ...(state.answeredBy === undefined ? {} : { answeredBy: state.answeredBy }),
    ...(isSinceFirstRead(state) ? { firstRead: true } : {}),
  };
}

/** The part of a state that the partner service shows. */
export type ShownState = Pick<FilingState, 'status' | 'completedAt' | 'rejectionReason'>;

/** Whether the service shows two filings alike, letter by letter. */
export function showsTheSame(a: ShownState, b: ShownState): boolean {
  return a.status === b.status && a.completedAt === b.completedAt && a.rejectionReason === b.rejectionReason;
}

const format = 1;

const restateMark = 'restate';
const stalledMark = 'stalled ';
const firstReadMark = 'first-read';
const effectiveMark = 'effective ';
const createdMark = 'created ';
const lookAlikeMark = 'looks ';
const answeredMark = 'answered ';
const warnedMark = 'warned ';
// The end of a state, behind what the service shows, that is neither removed nor to be restated.
const unmarkedEnd = /^(?:,\d+){4}(?:,0(?:,"(?!restate)[\w -]+")*)?\]$/;

// Maps, because a status may be called `__proto__`.
const codeOf = new Map<string, string>(filingStatuses.map(({ status, code }) => [status, code]));
const statusOf = new Map<string, string>(filingStatuses.map(({ status, code }) => [code, status]));

/**
 * The state as stored: a JSON array that starts with the number of its layout, about 75 bytes. Equal states
 * encode equally.
 */
export function encodeState(state: FilingState): string {
  const { sequence, since, readAt, readFrom } = state;
  const rest = JSON.stringify([sequence, since, readAt, readAt - readFrom, ...marksOf(state)]);
  return `${startOf(state)},${rest.slice(1)}`;
}

// The beginning of a stored state: the values that the service shows.
function startOf({ status, completedAt, rejectionReason }: ShownState): string {
  const shown = [format, codeOf.get(status) ?? `=${status}`, completedAt, rejectionReason];
  return JSON.stringify(shown).slice(0, -1);
}

function marksOf(state: FilingState): readonly unknown[] {
  const { removed, restate, stalled = [], firstRead, sequence } = state;
  const { effective, created, lookAlike, answeredBy, warned } = state;
  const marks = [
    ...(restate === true ? [restateMark] : []),
    ...(stalled.length > 0 ? [`${stalledMark}${stalled.join(' ')}`] : []),
    // Without an event it goes without saying.
    ...(firstRead === true && sequence > 0 ? [firstReadMark] : []),
    ...(effective === undefined ? [] : [`${effectiveMark}${effective.at} ${effective.stateAbbr}`]),
    ...(created === undefined ? [] : [`${createdMark}${created}`]),
    ...(lookAlike === undefined ? [] : [`${lookAlikeMark}${lookAlike}`]),
    ...(answeredBy === undefined ? [] : [`${answeredMark}${answeredBy}`]),
    ...(warned === undefined ? [] : [`${warnedMark}${warned.dueAt} ${warned.ms}`]),
  ];
  return marks.length > 0 || removed ? [Number(removed), ...marks] : [];
}

/**
 * Whether a stored state is that of a filing, neither removed nor to be restated, with exactly these values.
 * Only the text is compared.
 */
export function isShownBy(text: string, shown: ShownState): boolean {
  const start = startOf(shown);
  return text.startsWith(start) && unmarkedEnd.test(text.slice(start.length));
}

// Matches nearly every stored state, in less time than it takes to parse it.
const plain =
  /^\[1,"[^"\\\n]*",(?:null|"[^"\\\n]*"),(?:null|"[^"\\\n]*"),\d+,\d+,\d+,\d+(?:,[01](?:,"[\w -]+")*)?\]$/;

/** Whether `decodeState` reads a stored text. */
export function isReadableState(text: string): boolean {
  return plain.test(text) || orNull(() => decodeState(text)) !== null;
}

/** Reads what `encodeState` wrote. Throws SyntaxError on anything else. */
export function decodeState(text: string): FilingState {
  const parsed: unknown = JSON.parse(text);
  const [version, status, completedAt, rejectionReason, ...rest] = Array.isArray(parsed)
    ? (parsed as unknown[])
    : [];
  const [sequence, since, readAt, readMs, removed, ...marks] = rest;
  const numbers = [sequence, since, readAt, readMs];
  const isState =
    version === format && typeof status === 'string' && isText(completedAt) && isText(rejectionReason);
  if (!isState || !numbers.every(Number.isFinite)) throw new SyntaxError('not a filing state');
  return {
    status: statusOf.get(status) ?? status.slice(1),
    completedAt,
    rejectionReason,
    sequence: Number(sequence),
    since: Number(since),
    readFrom: Number(readAt) - Number(readMs),
    readAt: Number(readAt),
    removed: removed === 1,
    ...(marks.includes(restateMark) ? { restate: true } : {}),
    ...stalledOf(marks),
    ...(marks.includes(firstReadMark) ? { firstRead: true } : {}),
    ...effectiveOf(marks),
    ...createdOf(marks),
    ...textOf('lookAlike', marks, lookAlikeMark),
    ...textOf('answeredBy', marks, answeredMark),
    ...warnedOf(marks),
  };
}

function stalledOf(marks: readonly unknown[]): Pick<FilingState, 'stalled'> {
  const words = wordsOf(marks, stalledMark);
  return words === null ? {} : { stalled: words.map(Number) };
}

function effectiveOf(marks: readonly unknown[]): Pick<FilingState, 'effective'> {
  const [at, stateAbbr = ''] = wordsOf(marks, effectiveMark) ?? [];
  return at === undefined ? {} : { effective: { at: Number(at), stateAbbr } };
}

function createdOf(marks: readonly unknown[]): Pick<FilingState, 'created'> {
  const text = markedWith(marks, createdMark);
  return text === null ? {} : { created: Number(text) };
}

function warnedOf(marks: readonly unknown[]): Pick<FilingState, 'warned'> {
  const [dueAt, ms] = wordsOf(marks, warnedMark) ?? [];
  return dueAt === undefined ? {} : { warned: { dueAt: Number(dueAt), ms: Number(ms) } };
}

function textOf<K extends 'lookAlike' | 'answeredBy'>(name: K, marks: readonly unknown[], beginning: string) {
  const text = markedWith(marks, beginning);
  return (text === null ? {} : { [name]: text }) as Pick<FilingState, K>;
}

function wordsOf(marks: readonly unknown[], beginning: string): readonly string[] | null {
  return markedWith(marks, beginning)?.split(' ') ?? null;
}

// The rest of the mark with this beginning, or null if there is none.
function markedWith(marks: readonly unknown[], beginning: string): string | null {
  const text = marks.find((mark) => typeof mark === 'string' && mark.startsWith(beginning));
  return typeof text === 'string' ? text.slice(beginning.length) : null;
}

/** A filing's state as stored: the text that a later commit compares with, decoded when needed. */
export class StoredState {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Throws as `decodeState` does. */
  get state(): FilingState {
    return decodeState(this.text);
  }
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
