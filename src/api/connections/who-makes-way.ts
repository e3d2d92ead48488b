/**
 * The state of a connection: it waits for a request or for its client to take an answer, a request is being
 * worked on, or a stream goes on.
 */
export type Doing = 'waiting' | 'working' | 'streaming';

/** A connection and the facts on which its place depends. */
export interface Claim<T> {
  readonly of: T;
  readonly doing: Doing;
  /** Milliseconds for which the client has been waited for, or its request been worked on. */
  readonly waitedMs: number;
  /** The key of the client's address; null where it is not known. */
  readonly address: string | null;
  /** The account whose token was used; null for none. */
  readonly account: string | null;
  /** Where the operator's token was valid a short while ago: on this connection, or from its address. */
  readonly operator: 'here' | 'near' | null;
}

// Milliseconds in which a new connection may bring its request before long requests make way.
const freshMs = 250;
// Milliseconds of work on a request after which it may make way; nearly all take fewer.
const longMs = 1_000;

/**
 * The connections that may be cut to make room, the first to go first; pure. Those whose client is waited for
 * go first: of them those of the address or account with the most, and there the one that has waited longest.
 * Then long requests of an address or account that has a quarter of all, then connections that have just
 * begun. A reserve of the operator's goes last. Streams and other requests stay.
 */
export function whoMakesWay<T>(claims: readonly Claim<T>[], reserve: number): T[] {
  const kept = reserved(claims, reserve);
  const waiting = crowds(claims.filter(({ doing }) => doing === 'waiting'));
  const busy = crowds(claims);
  const rank = (claim: Claim<T>) => {
    if (claim.doing === 'waiting') return (claim.waitedMs < freshMs ? 2 : 0) + (kept.has(claim) ? 3 : 0);
    const isLong = claim.doing === 'working' && claim.waitedMs >= longMs;
    return isLong && busy(claim) > claims.length / 4 && !kept.has(claim) ? 1 : null;
  };
  return claims
    .map((claim) => ({ claim, rank: rank(claim), crowd: waiting(claim) }))
    .filter((each): each is typeof each & { rank: number } => each.rank !== null)
    .toSorted((a, b) => a.rank - b.rank || b.crowd - a.crowd || b.claim.waitedMs - a.claim.waitedMs)
    .map(({ claim }) => claim.of);
}

/** How many of these the address or the account of a claim has, whichever has more. */
function crowds<T>(claims: readonly Claim<T>[]): (claim: Claim<T>) => number {
  const byAddress = Map.groupBy(claims, ({ address }) => address);
  const byAccount = Map.groupBy(claims, ({ account }) => account);
  const count = <K>(groups: ReadonlyMap<K | null, unknown[]>, key: K | null) =>
    key === null ? 0 : (groups.get(key)?.length ?? 0);
  return ({ address, account }) => Math.max(count(byAddress, address), count(byAccount, account));
}

// From an address that the operator shares with many others, only connections with the operator's token
// count.
function reserved<T>(claims: readonly Claim<T>[], reserve: number): ReadonlySet<Claim<T>> {
  const by = (where: Claim<T>['operator']) =>
    claims.filter(({ operator }) => operator === where).toSorted((a, b) => a.waitedMs - b.waitedMs);
  const near = by('near');
  return new Set([...by('here'), ...(near.length > reserve ? [] : near)].slice(0, reserve));
}
