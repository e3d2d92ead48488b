import { newestMember, newestRank } from '../detection/newest.ts';

/** The filings of an account in one status; lists merge several of them by age. */
export interface OrderedSource {
  readonly account: string;
  readonly status: string;
  /**
   * Times between which all of them came into the status (ms): the source is read only when a list gets
   * there. Null or missing where they are not known.
   */
  readonly since?: { readonly oldest: number; readonly newest: number } | null;
}

/** The direction of a list by age. */
export type AgeOrder = 'newest' | 'oldest';

/** The place behind a filing in a list by age. */
export interface OrderedPlace {
  readonly account: string;
  readonly status: string;
  /** Milliseconds on Redis's clock at which the filing came into its status. */
  readonly since: number;
  readonly id: string;
}

// Since when, account, status (Base64url) and id.
const shape = /^(\d{1,15}) ([^ ]{1,64}) ([\w-]{1,600}) ([^]+)$/;

/** A place as text, for a cursor. */
export function writePlace({ since, account, status, id }: OrderedPlace): string {
  return `${since} ${account} ${Buffer.from(status).toString('base64url')} ${id}`;
}

/** The place in such a text. Throws RangeError when it is none. */
export function readPlace(text: string): OrderedPlace {
  const [, since, account, status, id] = shape.exec(text) ?? [];
  if (since === undefined || account === undefined || status === undefined || id === undefined)
    throw new RangeError('not a place in a list of filings');
  return { since: Number(since), account, status: Buffer.from(status, 'base64url').toString(), id };
}

/** The order of sources: which of two equally old filings of different sources comes first; pure. */
export function bySource(
  a: Pick<OrderedSource, 'account' | 'status'>,
  b: Pick<OrderedSource, 'account' | 'status'>,
): number {
  if (a.account !== b.account) return a.account < b.account ? -1 : 1;
  return a.status === b.status ? 0 : a.status < b.status ? -1 : 1;
}

/**
 * The bound of ZRANGEBYLEX, or of ZREVRANGEBYLEX for `oldest`, from which a source goes on behind a place;
 * null = from its beginning; pure.
 */
export function boundBehind(
  source: OrderedSource,
  order: AgeOrder,
  place: OrderedPlace | null,
): string | null {
  if (place === null) return null;
  const { status } = source;
  const rank = newestRank(place);
  const side = bySource(source, place);
  if (side === 0) return `(${newestMember(status, rank, place.id)}`;
  // Members of one rank lie between `<rank> ` and `<rank>!`.
  const isPassed = side < 0;
  if (order === 'newest') return `[${status}\0${rank}${isPassed ? '!' : ' '}`;
  return `[${status}\0${rank}${isPassed ? ' ' : '!'}`;
}
