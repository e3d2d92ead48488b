import { isIndexed } from '../../partner/filing-statuses.ts';
import type { FilingState } from './filing-state.ts';
import { isOpenRejection, maySee, seenStatus } from './triage.ts';

/**
 * The filings of an account in one status that the indexes have: COMPLETED ones and removed ones are in none,
 * and rejections that are answered stand apart from the open ones.
 */
export interface IndexedFilings {
  readonly account: string;
  /** A status, or `answeredGroup`; in the index of look-alikes their key. */
  readonly status: string;
  /** Milliseconds that are added to the times of an index, so that several can be merged. Default 0. */
  readonly shiftMs?: number;
}

/**
 * Stands in the indexes for the status of rejections that are answered. No status contains such a character.
 */
export const answeredGroup = `${seenStatus}\u0001`;

/** Stands in the index `created` for a status, or for `answeredGroup`. No status ends so. */
export function createdGroup(group: string): string {
  return `${group}\u0002`;
}

/** The groups in the indexes that together have all filings in a status. */
export function groupsOfStatus(status: string): string[] {
  return status === seenStatus ? [status, answeredGroup] : [status];
}

/** The direction of a list by age. */
export type AgeOrder = 'newest' | 'oldest';

/** The place behind a filing in a list by age. */
export interface AgePlace extends IndexedFilings {
  /** Milliseconds at which the filing came into its status, or another time of an index; shifted. */
  readonly since: number;
  readonly id: string;
}

/** A member of the index: a filing, and its rank among those of its status. */
export interface RankedFiling {
  readonly id: string;
  readonly rank: string;
}

/**
 * Milliseconds since the epoch that stand for a time that is not known. Times are subtracted from it, so that
 * the newest come first as text.
 */
export const lastTime = 999_999_999_999_999;

/** Length of a rank in characters. */
export const rankLength = String(lastTime).length;

/** The rank of a time (ms) among those of one status, as text of fixed length: the newer, the less. */
export function rankOf(since: number): string {
  const bounded = Math.min(Math.max(0, Math.trunc(since)), lastTime);
  return String(lastTime - bounded).padStart(rankLength, '0');
}

/** The time of a rank (ms), since when the filing is in its status. */
export function timeOfRank(rank: string): number {
  return lastTime - Number(rank);
}

/** A filing's member of the index: members of one status sort by rank, then by id. */
export function memberOf(status: string, rank: string, id: string): string {
  return `${status}\0${rank} ${id}`;
}

/** Reads a member of the index that has this status. */
export function ofMember(status: string, member: string): RankedFiling {
  const begin = status.length + 1;
  return { rank: member.slice(begin, begin + rankLength), id: member.slice(begin + rankLength + 1) };
}

/**
 * Whether a filing in this state is in the index, and its details are kept. Most filings are COMPLETED
 * or removed, and people do not look through those.
 */
export function isInIndex({ status, removed }: Pick<FilingState, 'status' | 'removed'>): boolean {
  return isIndexed(status) && !removed;
}

/**
 * The sorted indexes of an account's filings, by the names of their keys. Each gives the member of a filing
 * in this state, without the id, or '' if it has none. A commit updates all of them in one step with the
 * states (commit-changes.lua), so a member must follow from the state alone.
 */
export const filingIndexes = {
  /** By the time at which they came into their status. */
  index: (state) => (isInIndex(state) ? `${groupOf(state)}\0${rankOf(state.since)}` : ''),
  /** By their effective date; those without one are the newest. */
  effective: (state) =>
    isInIndex(state) ? `${groupOf(state)}\0${rankOf(state.effective?.at ?? lastTime)}` : '',
  /** The rejections whose filing's own time is the best bound of their age, by that time. */
  created: (state) =>
    maySee(state) && state.created !== undefined
      ? `${createdGroup(groupOf(state))}\0${rankOf(state.created)}`
      : '',
  /** The open rejections that have a key (`lookAlikeKey`), by the time at which they were rejected. */
  lookAlikes: (state) =>
    isOpenRejection(state) && state.lookAlike !== undefined
      ? `${state.lookAlike}\0${rankOf(state.since)}`
      : '',
} as const satisfies Readonly<Record<string, (state: FilingState) => string>>;

function groupOf({ status, answeredBy }: FilingState): string {
  return answeredBy === undefined ? status : answeredGroup;
}

/** A sorted index of filings. */
export type FilingIndexName = keyof typeof filingIndexes;

// Since when, account, status (Base64url) and id; '' stands before all filings of its time.
const shape = /^(\d{1,16})(?:\+(\d{1,16}))? ([^ ]{1,64}) ([\w-]{1,600}) ([^]*)$/;

/** A place as text, for a cursor. */
export function writePlace({ since, shiftMs, account, status, id }: AgePlace): string {
  const shift = shiftMs === undefined ? '' : `+${shiftMs}`;
  return `${since}${shift} ${account} ${Buffer.from(status).toString('base64url')} ${id}`;
}

/** The place in such a text. Throws RangeError when it is none. */
export function readPlace(text: string): AgePlace {
  const [, since, shift, account, status, id] = shape.exec(text) ?? [];
  if (since === undefined || account === undefined || status === undefined || id === undefined)
    throw new RangeError('not a place in a list of filings');
  const place = { since: Number(since), account, status: Buffer.from(status, 'base64url').toString(), id };
  return shift === undefined ? place : { ...place, shiftMs: Number(shift) };
}

/** Compares which of two equally old filings of different accounts, statuses or shifts comes first. */
export function byAccountAndStatus(a: IndexedFilings, b: IndexedFilings): number {
  if (a.account !== b.account) return a.account < b.account ? -1 : 1;
  if (a.status !== b.status) return a.status < b.status ? -1 : 1;
  return (a.shiftMs ?? 0) - (b.shiftMs ?? 0);
}

/**
 * The bound of ZRANGEBYLEX, or of ZREVRANGEBYLEX for `oldest`, from which filings go on behind a place; null
 * = from the first one.
 */
export function boundBehind(filings: IndexedFilings, order: AgeOrder, place: AgePlace | null): string | null {
  if (place === null) return null;
  const { status, shiftMs = 0 } = filings;
  const time = place.since - shiftMs;
  // Beyond the times of this index: all of it is behind the place, or nothing.
  if (time < 0 || time > lastTime)
    return time < 0 === (order === 'oldest')
      ? null
      : order === 'oldest'
        ? `(${status}\0`
        : `(${status}\u0001`;
  const rank = rankOf(time);
  const side = byAccountAndStatus(filings, place);
  if (side === 0) return `(${memberOf(status, rank, place.id)}`;
  // Members of one rank lie between `<rank> ` and `<rank>!`.
  return `[${status}\0${rank}${side < 0 === (order === 'newest') ? '!' : ' '}`;
}
