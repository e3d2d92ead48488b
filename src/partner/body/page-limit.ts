import { bodyBytesMax } from './answer-body.ts';

/**
 * How many records a page of an account may be asked for, so that its large filings still fit into an answer.
 */
export interface PageLimit {
  /** The limit to ask for where up to `wanted` records are of use. */
  of(wanted: number): number;
  /** A page of this limit was larger than an answer may be. False when a smaller one cannot be asked for. */
  tooLarge(limit: number): boolean;
  /** A page of this limit had that many bytes. */
  fits(limit: number, bytes: number): void;
}

/** A limit that begins at the highest one, `limitMax`. */
export function createPageLimit(limitMax: number): PageLimit {
  let present = limitMax;
  return {
    of: (wanted) => Math.min(wanted, present),
    tooLarge(limit) {
      present = Math.min(present, lowered(limit));
      return limit > 1;
    },
    fits(limit, bytes) {
      if (limit >= present) present = Math.min(limitMax, raised(present, bytes));
    },
  };
}

function lowered(limit: number): number {
  return Math.max(1, Math.floor(limit / 4));
}

// Twice as many records fit if they are as large as these.
function raised(limit: number, bytes: number): number {
  return bytes * 2 < bodyBytesMax ? limit * 2 : limit;
}
