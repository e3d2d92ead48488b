import { createBoundedMap } from '../../memory/bounded-map.ts';
import { createReplyTimes } from '../../memory/reply-times.ts';
import { createSlowWays } from './slow-ways.ts';
import {
  bookAfter,
  bookAfterReturn,
  bookAfterUse,
  bookAt,
  bookFrom,
  emptyBook,
  lateMsMax,
  nextTurnMs,
  spacingMs,
  type TurnBook,
} from './turn-book.ts';
import type { TurnStore } from './turn-store.ts';

/** The pace of one drain. Without a rate it holds nothing up and reads nothing. */
export interface Pacer {
  /**
   * The rate (a second) from now on, as settings of this version have it; null = none. Turns at hand of
   * another rate are not used.
   */
  follow(rate: number | null, version: number): void;
  /** Whether an attempt may start now. */
  mayStart(): boolean;
  /** An attempt was started. */
  started(attempt: object): void;
  /** The listener to whether an attempt's connection is open, from the start; undefined without a rate. */
  onConnectionOf(attempt: object): ((isOpen: boolean) => void) | undefined;
  /** It has ended after these milliseconds; null when nothing was sent. */
  ended(attempt: object, durationMs: number | null): void;
  /**
   * Takes turns for a number of events that could be sent now; false when another drain has begun. Rejects
   * when Redis does.
   */
  ask(wanted: number): Promise<boolean>;
  /** Nothing waits for a turn. */
  waitsNot(): void;
  /**
   * Milliseconds until the next turn of an event that waits only for it; null while none does, Infinity while
   * connections of attempts are being opened that may arrive at any time.
   */
  turnMs(): number | null;
  /** Milliseconds until its drain has to act: at the turn, or a little earlier to take it. */
  actMs(): number | null;
  /** Whether a turn is at hand, now or soon. */
  holdsTurn(): boolean;
  /**
   * The drain ends. Where the next turn is far, no new event wakes the subscription before it. Where attempts
   * were late at the receiver, the next turn of any process is as much later. Rejects when Redis does.
   */
  leave(): Promise<void>;
}

/** The pacers of a process. */
export interface Pacers {
  /** The pacer of a drain that begins under this epoch. */
  open(account: string, id: string, epoch: string): Pacer;
}

export interface PacersDeps {
  readonly turns: TurnStore;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

// Maximum number of subscriptions of which this process knows when it last used a turn.
const knownMax = 20_000;
// Milliseconds for which turns are taken ahead, so that replies and timers cost none. A process that ends
// leaves its own unused.
const aheadMs = 300;
// Milliseconds until the next turn from which on a subscription rests until then.
const farMs = 1_500;

/** Pacers over turns in Redis. */
export function createPacers({ turns, now }: PacersDeps): Pacers {
  const used = createBoundedMap<string, number>(knownMax);
  const replies = createReplyTimes();

  function paced(account: string, id: string, epoch: string): Pacer {
    const key = `${account}/${id}`;
    let rate: number | null = null;
    let version = 0;
    let book: TurnBook = emptyBook;
    // When the next turn is that could not be taken yet.
    let nextAt = -Infinity;
    let waits = false;
    const ways = createSlowWays();

    const take = (perSecond: number, wanted: number, rests = false, lateMs = 0) =>
      turns.take(account, id, epoch, {
        wanted,
        spacingMs: spacingMs(perSecond),
        aheadMs,
        restsAt: rests ? version : null,
        lateMs,
      });

    function heldMs(): number | null {
      book = bookAt(book, now());
      const from = rate === null ? -Infinity : ways.nextFrom(rate, now());
      if (from === Infinity) return Infinity;
      book = bookFrom(book, from);
      return nextTurnMs(book, now());
    }

    const untilMs = (at: number) => Math.max(0, at - now());

    return {
      follow(asked, of) {
        version = of;
        if (asked === rate) return;
        rate = asked;
        book = { turns: [], usedAt: Math.max(book.usedAt, used.get(key) ?? -Infinity) };
        nextAt = -Infinity;
        waits = false;
      },
      mayStart: () => rate === null || heldMs() === 0,
      started(attempt) {
        if (rate === null) return;
        book = bookAfterUse(book);
        ways.started(attempt, now());
        used.set(key, book.usedAt);
      },
      onConnectionOf(attempt) {
        if (rate === null) return undefined;
        return (isOpen) => ways.connected(attempt, isOpen ? now() : null);
      },
      ended(attempt, durationMs) {
        if (rate === null) return;
        if (durationMs === null) book = bookAfterReturn(book);
        ways.ended(attempt, durationMs);
      },
      async ask(wanted) {
        if (rate === null) return true;
        waits = true;
        const askedAt = now();
        if (heldMs() !== null || askedAt < nextAt - aheadMs) return true;
        const answer = await take(rate, wanted);
        if (answer === null) return false;
        const { taken, inMs } = answer;
        const answeredAt = now();
        replies.note(answeredAt - askedAt);
        const granted = { taken, inMs, askedAt, answeredAt, replyMs: replies.least() };
        if (taken === 0) nextAt = answeredAt + inMs;
        else book = bookAfter(book, granted, spacingMs(rate));
        return true;
      },
      waitsNot() {
        waits = false;
      },
      turnMs: () => (waits ? (heldMs() ?? untilMs(nextAt)) : null),
      actMs: () => (waits ? (heldMs() ?? untilMs(nextAt - aheadMs)) : null),
      holdsTurn: () => heldMs() !== null,
      async leave() {
        if (rate === null) return;
        const rests = waits && heldMs() === null && untilMs(nextAt) > farMs;
        const lateMs = ways.lateMs(rate, now());
        if (rests || lateMs > lateMsMax) await take(rate, 0, rests, lateMs);
      },
    };
  }

  return { open: (account, id, epoch) => new RatedPacer(() => paced(account, id, epoch)) };
}

/**
 * A pacer that is opened with the first rate. Most subscriptions have none, and their drains are short: one
 * object without methods of its own costs them the least.
 */
class RatedPacer implements Pacer {
  readonly #open: () => Pacer;
  #pacer: Pacer | null = null;

  constructor(open: () => Pacer) {
    this.#open = open;
  }

  follow(rate: number | null, version: number): void {
    if (rate !== null) this.#pacer ??= this.#open();
    this.#pacer?.follow(rate, version);
  }

  mayStart(): boolean {
    return this.#pacer?.mayStart() ?? true;
  }

  started(attempt: object): void {
    this.#pacer?.started(attempt);
  }

  onConnectionOf(attempt: object): ((isOpen: boolean) => void) | undefined {
    return this.#pacer?.onConnectionOf(attempt);
  }

  ended(attempt: object, durationMs: number | null): void {
    this.#pacer?.ended(attempt, durationMs);
  }

  ask(wanted: number): Promise<boolean> {
    return this.#pacer?.ask(wanted) ?? Promise.resolve(true);
  }

  waitsNot(): void {
    this.#pacer?.waitsNot();
  }

  turnMs(): number | null {
    return this.#pacer?.turnMs() ?? null;
  }

  actMs(): number | null {
    return this.#pacer?.actMs() ?? null;
  }

  holdsTurn(): boolean {
    return this.#pacer?.holdsTurn() ?? false;
  }

  leave(): Promise<void> {
    return this.#pacer?.leave() ?? Promise.resolve();
  }
}
