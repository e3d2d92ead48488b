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
   * True where receivers may have got another state than this one. The next read then leads to an event even
   * without a change.
   */
  readonly restate?: boolean;
  /**
   * The limits (ms) for the filing's stay in the present status whose `filing.stalled` was appended; missing
   * where none was.
   */
  readonly stalled?: readonly number[];
}

/** The part of a state that the partner service shows. */
export type ShownState = Pick<FilingState, 'status' | 'completedAt' | 'rejectionReason'>;

const format = 1;

const codeStart = `[${format},"`;
const removedEnd = ',1]';
// Four numbers and no mark: the last one is the length of the read, which may be one millisecond.
const withoutMark = /[l"](?:,\d+){4}\]$/;
const restateMark = 'restate';
const stalledMark = 'stalled ';
// The end of a state with limits that is neither removed nor to be restated.
const onlyStalled = /,0,"stalled [\d ]+"\]$/;

// Maps, because a status may be called `__proto__`.
const codeOf = new Map<string, string>(filingStatuses.map(({ status, code }) => [status, code]));
const statusOf = new Map<string, string>(filingStatuses.map(({ status, code }) => [code, status]));

/**
 * The state as stored: a JSON array that starts with the number of its layout, about 75 bytes. Equal states
 * encode equally.
 */
export function encodeState(state: FilingState): string {
  return JSON.stringify([
    format,
    codeOf.get(state.status) ?? `=${state.status}`,
    state.completedAt,
    state.rejectionReason,
    state.sequence,
    state.since,
    state.readAt,
    state.readAt - state.readFrom,
    ...marksOf(state),
  ]);
}

function marksOf({ removed, restate, stalled = [] }: FilingState): readonly unknown[] {
  const marks = [
    ...(restate === true ? [restateMark] : []),
    ...(stalled.length > 0 ? [`${stalledMark}${stalled.join(' ')}`] : []),
  ];
  return marks.length > 0 || removed ? [Number(removed), ...marks] : [];
}

/**
 * Whether a stored state is that of a filing, not removed, with exactly these values. Only the text is
 * compared, so false may also mean that decoding is needed to find out.
 */
export function isShownBy(text: string, { status, completedAt, rejectionReason }: ShownState): boolean {
  if (!text.startsWith(codeStart) || (text.endsWith(removedEnd) && !withoutMark.test(text))) return false;
  if (text.endsWith('"]') && !onlyStalled.test(text)) return false;
  const code = codeOf.get(status);
  if (code === undefined || !text.startsWith(`${code}",`, codeStart.length)) return false;
  const end = endOf(text, codeStart.length + 3, completedAt);
  return end > 0 && endOf(text, end, rejectionReason) > 0;
}

// The index behind the comma of the value that begins at `at`; 0 when it is another value, or one that is
// written with escapes.
function endOf(text: string, at: number, value: string | null): number {
  if (value === null) return text.startsWith('null,', at) ? at + 5 : 0;
  const end = at + 1 + value.length;
  if (!text.startsWith(value, at + 1) || !text.startsWith('",', end)) return 0;
  return value.includes('"') || value.includes('\\') ? 0 : end + 2;
}

// Matches nearly every stored state. One with escapes in a text does not match and has to be decoded.
const plain =
  /^\[1,"[^"\\\n]*",(?:null|"[^"\\\n]*"),(?:null|"[^"\\\n]*"),\d+,\d+,\d+,\d+(?:,[01](?:,"restate")?(?:,"stalled [\d ]+")?)?\]$/;

/**
 * Whether a stored text is a state that `decodeState` reads. Only the form of the text is checked: false may
 * also mean that decoding is needed to find out.
 */
export function isPlainState(text: string): boolean {
  return plain.test(text);
}

/**
 * Whether a stored state is surely of another status than this one. Only the text is looked at, so false may
 * also mean that decoding is needed to find out.
 */
export function isOfOtherStatus(text: string, status: string): boolean {
  const code = codeOf.get(status);
  return code !== undefined && isPlainState(text) && !text.startsWith(`${code}",`, codeStart.length);
}

/** Whether `decodeState` reads a stored text. */
export function isReadableState(text: string): boolean {
  try {
    decodeState(text);
    return true;
  } catch {
    return false;
  }
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
  };
}

function stalledOf(marks: readonly unknown[]): Pick<FilingState, 'stalled'> {
  const text = marks.find((mark) => typeof mark === 'string' && mark.startsWith(stalledMark));
  if (typeof text !== 'string') return {};
  return { stalled: text.slice(stalledMark.length).split(' ').map(Number) };
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
