import type { FilingState } from './filing-state.ts';

// Milliseconds since the epoch; times are subtracted from it, so that the newest come first as text.
const lastTime = 999_999_999_999_999;
const digits = String(lastTime).length;

/** The rank of what is older than all else, such as a filing whose state cannot be read. */
export const oldestRank = String(lastTime);

/**
 * The rank of a state among those of its status, as text of fixed length: the newer, the less; '' without
 * one. Pure.
 */
export function newestRank(state: Pick<FilingState, 'since'> | null): string {
  if (state === null) return '';
  const since = Math.min(Math.max(0, Math.trunc(state.since)), lastTime);
  return String(lastTime - since).padStart(digits, '0');
}

/** A filing's member of the sorted set `newest`: members of one status sort by rank, then by id. */
export function newestMember(status: string, rank: string, id: string): string {
  return `${status}\0${rank} ${id}`;
}

/** The id and rank of a member of this status. */
export function ofMember(status: string, member: string): { readonly id: string; readonly rank: string } {
  const begin = status.length + 1;
  return { rank: member.slice(begin, begin + digits), id: member.slice(begin + digits + 1) };
}

/** The time of a rank (ms), since when the filing is in its status; 0 for the oldest rank. */
export function timeOfRank(rank: string): number {
  return lastTime - Number(rank);
}

/** The place behind a filing in a newest-first list, as text for its cursor: since when, and its id. */
export function writePlace({ rank, id }: { readonly rank: string; readonly id: string }): string {
  return `${timeOfRank(rank)} ${id}`;
}

/** The member at such a place. Throws RangeError when it is no such text. */
export function memberAt(status: string, place: string): string {
  const [, since, id] = /^(\d{1,15}) ([^]+)$/.exec(place) ?? [];
  if (since === undefined || id === undefined) throw new RangeError('not a place in the list of filings');
  return newestMember(status, newestRank({ since: Number(since) }), id);
}
