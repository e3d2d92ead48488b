/** The kind of a request, as far as it matters for its turn. */
export type Urgency =
  | 'person' // a client waits for it: a search, the check of a key
  | 'change' // shows changes of filings: deltas, the polls of small accounts, single reads
  | 'sweep'; // a page of a long list

/** The requests that a turn is taken for; those of people use the turns of changes. */
export type TurnKind = Exclude<Urgency, 'person'>;

/** The turns that a request waits for; pure. */
export function turnKindOf(urgency: Urgency): TurnKind {
  return urgency === 'sweep' ? 'sweep' : 'change';
}

/** The requests of one process that wait for a turn at one host. */
export interface FairQueue<T> {
  /** Adds a request of an account; the returned function takes it out again. */
  add(account: string, urgency: Urgency, request: T): () => void;
  /**
   * Takes out the request whose turn it is; null when none waits. A turn that was taken for a sweep goes to a
   * sweep if one waits, any other one to a sweep only if nothing else waits.
   */
  next(kind: TurnKind): T | null;
  /** Number of requests that wait for turns of that kind. */
  requests(kind: TurnKind): number;
  /** Number of accounts with such requests. */
  accounts(kind: TurnKind): number;
  /** Whether a person's request waits. */
  hasPerson(): boolean;
}

/**
 * A queue that goes round the accounts: each has one request sent before another one has its next, however
 * many it has. People's requests come first, but not twice in a row while changes wait. Pure.
 */
export function createFairQueue<T>(): FairQueue<T> {
  const rounds: Readonly<Record<Urgency, Round<T>>> = {
    person: createRound(),
    change: createRound(),
    sweep: createRound(),
  };
  let lastWasPerson = false;

  function takeFrom(urgency: Urgency): T | null {
    lastWasPerson = urgency === 'person';
    return rounds[urgency].next();
  }

  function urgent(): Urgency | null {
    const { person, change } = rounds;
    if (person.requests() > 0 && !(lastWasPerson && change.requests() > 0)) return 'person';
    return change.requests() > 0 ? 'change' : null;
  }

  const sum = (kind: TurnKind, of: (round: Round<T>) => number) =>
    kind === 'sweep' ? of(rounds.sweep) : of(rounds.person) + of(rounds.change);

  return {
    add: (account, urgency, request) => rounds[urgency].add(account, request),
    next(kind) {
      const isForSweep = kind === 'sweep' && rounds.sweep.requests() > 0;
      return takeFrom((isForSweep ? null : urgent()) ?? 'sweep');
    },
    requests: (kind) => sum(kind, (round) => round.requests()),
    accounts: (kind) => sum(kind, (round) => round.accounts()),
    hasPerson: () => rounds.person.requests() > 0,
  };
}

interface Round<T> {
  add(account: string, request: T): () => void;
  next(): T | null;
  requests(): number;
  accounts(): number;
}

function createRound<T>(): Round<T> {
  // In the order in which the accounts come.
  const waiting = new Map<string, T[]>();
  let size = 0;

  function remove(account: string, request: T): void {
    const own = waiting.get(account) ?? [];
    const at = own.indexOf(request);
    if (at < 0) return;
    own.splice(at, 1);
    size -= 1;
    if (own.length === 0) waiting.delete(account);
  }

  return {
    add(account, request) {
      const own = waiting.get(account);
      if (own === undefined) waiting.set(account, [request]);
      else own.push(request);
      size += 1;
      return () => remove(account, request);
    },
    next() {
      const [first] = waiting;
      if (first === undefined) return null;
      const [account, [request, ...rest]] = first;
      waiting.delete(account);
      if (rest.length > 0) waiting.set(account, rest);
      size -= 1;
      return request ?? null;
    },
    requests: () => size,
    accounts: () => waiting.size,
  };
}
