/** One delivery of an event, as far as a store has to know it. */
export interface Delivery {
  /** The same on every attempt and replay of the event. */
  readonly webhookId: string;
  readonly account: string;
  /** Null for events about no filing: each of them stands for itself. */
  readonly filing: {
    readonly id: string;
    /** Counts the events of the filing; it may have gaps and never falls. */
    readonly sequence: number;
  } | null;
  /**
   * Which sequences are taken, beside the last one handled: only `greater` ones, for a snapshot an `equal` one too, or `any`, for a receiver that
   * wants every event once, in whatever order.
   */
  readonly takes: 'greater' | 'equal' | 'any';
}

/**
 * What became of a delivery: `handled` now; `repeated`, handled before under the same id; `stale`, a newer event of the filing was handled;
 * `in_flight`, an event of the same filing is still being handled elsewhere, so the daemon has to try again.
 */
export type Taken = 'handled' | 'repeated' | 'stale' | 'in_flight';

/** What a handler gets of the store. */
export interface Turn<Transaction> {
  /** The transaction in which the mark is written; undefined with a store that has none. */
  readonly transaction: Transaction;
  /** True where a newer event of the filing was handled before; only where `takes` is `any`. */
  readonly isStale: boolean;
}

/**
 * Remembers which events were handled: for each filing the greatest sequence and the ids of its last hundred events.
 *
 * `take` calls `handle` at most once, and only for what was not handled before. The mark is written after `handle` has resolved, or in the same
 * transaction, never before: a handler that throws, or a process that is killed, leaves no mark, and the daemon delivers again. `take` rejects with
 * the error of `handle`, or with one of its own when it cannot say what was handled. While `handle` runs, no other delivery about the same filing is
 * handled; each store says how far that holds.
 */
export interface Store<Transaction = undefined> {
  take(delivery: Delivery, handle: (turn: Turn<Transaction>) => Promise<void>): Promise<Taken>;
}

/** Maximum of ids that are kept of one filing. */
export const idsMax = 100;

/** What a store keeps of a filing, or of one event without a filing. */
export interface Mark {
  readonly sequence: number;
  /** Ids of the events handled last, newest first. */
  readonly webhookIds: readonly string[];
}

/** What is to be done with a delivery, given the mark of its filing; `take_stale` is taken although a newer one was handled. */
export function judge(
  { webhookId, filing, takes }: Delivery,
  mark: Mark | null,
): 'take' | 'take_stale' | 'repeated' | 'stale' {
  if (mark === null) return 'take';
  if (mark.webhookIds.includes(webhookId)) return 'repeated';
  const sequence = filing?.sequence ?? 0;
  if (sequence > mark.sequence || (sequence === mark.sequence && takes === 'equal')) return 'take';
  return takes === 'any' ? 'take_stale' : 'stale';
}

/** The mark after a delivery was handled; the sequence never falls. */
export function advance(delivery: Delivery, mark: Mark | null): Mark {
  return {
    sequence: Math.max(mark?.sequence ?? 0, delivery.filing?.sequence ?? 0),
    webhookIds: [delivery.webhookId, ...(mark?.webhookIds ?? [])].slice(0, idsMax),
  };
}

/**
 * What a mark is kept under: the filing, or the event where there is none. As JSON two names cannot run into each other, and any text can be
 * stored anywhere, also half of a surrogate pair.
 */
export function subjectOf({ webhookId, account, filing }: Delivery): string {
  return filing === null ? `event:${webhookId}` : `filing:${JSON.stringify([account, filing.id])}`;
}
