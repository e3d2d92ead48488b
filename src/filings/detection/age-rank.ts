import { isIndexed } from '../../partner/filing-statuses.ts';
import type { FilingState } from './filing-state.ts';

/**
 * The filings of an account in one status that the index has: COMPLETED ones and removed ones are in none.
 */
export interface IndexedFilings {
  readonly account: string;
  readonly status: string;
}

/** The direction of a list by age. */
export type AgeOrder = 'newest' | 'oldest';

/** The place behind a filing in a list by age. */
export interface AgePlace extends IndexedFilings {
  /** Milliseconds on Redis's clock at which the filing came into its status. */
  readonly since: number;
  readonly id: string;
}

/** A member of the index: a filing, and its rank among those of its status. */
export interface RankedFiling {
  readonly id: string;
  readonly rank: string;
}

// Milliseconds since the epoch; times are subtracted from it, so that the newest come first as text.
const lastTime = 999_999_999_999_999;

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

// Since when, account, status (Base64url) and id; '' stands before all filings of its time.
const shape = /^(\d{1,15}) ([^ ]{1,64}) ([\w-]{1,600}) ([^]*)$/;

/** A place as text, for a cursor. */
export function writePlace({ since, account, status, id }: AgePlace): string {
  return `${since} ${account} ${Buffer.from(status).toString('base64url')} ${id}`;
}

/** The place in such a text. Throws RangeError when it is none. */
export function readPlace(text: string): AgePlace {
  const [, since, account, status, id] = shape.exec(text) ?? [];
  if (since === undefined || account === undefined || status === undefined || id === undefined)
    throw new RangeError('not a place in a list of filings');
  return { since: Number(since), account, status: Buffer.from(status, 'base64url').toString(), id };
}

/** Compares which of two equally old filings of different accounts or statuses comes first. */
export function byAccountAndStatus(a: IndexedFilings, b: IndexedFilings): number {
  if (a.account !== b.account) return a.account < b.account ? -1 : 1;
  return a.status === b.status ? 0 : a.status < b.status ? -1 : 1;
}

/**
 * The bound of ZRANGEBYLEX, or of ZREVRANGEBYLEX for `oldest`, from which filings go on behind a place; null
 * = from the first one.
 */
export function boundBehind(filings: IndexedFilings, order: AgeOrder, place: AgePlace | null): string | null {
  if (place === null) return null;
  const { status } = filings;
  const rank = rankOf(place.since);
  const side = byAccountAndStatus(filings, place);
  if (side === 0) return `(${memberOf(status, rank, place.id)}`;
  // Members of one rank lie between `<rank> ` and `<rank>!`.
  return `[${status}\0${rank}${side < 0 === (order === 'newest') ? '!' : ' '}`;
}
