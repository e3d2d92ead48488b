/** The turns that a drain has taken, on the monotonic clock of its process. Never changed. */
export interface TurnBook {
  /** When the turns at hand are, in milliseconds, the earliest first. */
  readonly turns: readonly Turn[];
  /** When the last turn that was used was, in milliseconds. */
  readonly usedAt: number;
}

/** The moment of one attempt. */
export interface Turn {
  readonly at: number;
  /** After that it may not be used, because turns of another process may follow it. */
  readonly latestAt: number;
}

/** The answer of Redis to a request for turns; times are milliseconds on the monotonic clock. */
export interface Granted {
  readonly taken: number;
  /** Milliseconds until the first turn, from the moment at which Redis answered. */
  readonly inMs: number;
  readonly askedAt: number;
  readonly answeredAt: number;
  /** Milliseconds that Redis's answers take at best. */
  readonly replyMs: number;
}

/** Maximum milliseconds by which an attempt may be later than its turn; a later one needs another turn. */
export const lateMsMax = 30;
// Milliseconds by which the ways of two requests to the receiver may differ.
const wayMs = 40;
// Share of the distance between turns that this process keeps by its own clock, even if Redis's was set.
const keptSpacing = 0.9;

/**
 * Milliseconds between two turns at a rate (a second). As many turns as the rate names take more than a
 * second, so no second has more attempts although they are late by different times.
 */
export function spacingMs(rate: number): number {
  return 1_000 / rate + (lateMsMax + wayMs) / Math.max(1, rate);
}

/** A book without turns. */
export const emptyBook: TurnBook = { turns: [], usedAt: -Infinity };

/** The book with the turns of an answer. */
export function bookAfter(book: TurnBook, granted: Granted, spacing: number): TurnBook {
  const { taken, inMs, askedAt, answeredAt, replyMs } = granted;
  const lastAt = book.turns.at(-1)?.at ?? book.usedAt;
  const delayMs = Math.max(0, lastAt + keptSpacing * spacing - (answeredAt + inMs));
  const turns = Array.from({ length: taken }, (_, i) => {
    const afterMs = inMs + delayMs + i * spacing;
    return { at: answeredAt + afterMs, latestAt: askedAt + replyMs + lateMsMax + afterMs };
  });
  return { ...book, turns: [...book.turns, ...turns] };
}

/** The book without the turns whose moment has passed. */
export function bookAt(book: TurnBook, now: number): TurnBook {
  const isPast = (turn: Turn) => turn.latestAt < now;
  return book.turns.some(isPast) ? { ...book, turns: book.turns.filter((turn) => !isPast(turn)) } : book;
}

/** Milliseconds until the next turn at hand, 0 when it is now; null without one. */
export function nextTurnMs({ turns: [next] }: TurnBook, now: number): number | null {
  return next === undefined ? null : Math.max(0, next.at - now);
}

/** The book after the next turn was used. */
export function bookAfterUse({ turns, usedAt }: TurnBook): TurnBook {
  const [next, ...rest] = turns;
  return { turns: rest, usedAt: next?.at ?? usedAt };
}

/** The book with its last used turn once more, because nothing was sent. */
export function bookAfterReturn(book: TurnBook): TurnBook {
  const { turns, usedAt } = book;
  return { usedAt, turns: [{ at: usedAt, latestAt: usedAt + lateMsMax }, ...turns] };
}

/** The book with no turn before this time (ms); those after it keep their distance. */
export function bookFrom(book: TurnBook, at: number): TurnBook {
  const [next] = book.turns;
  if (next === undefined || next.at >= at) return book;
  const byMs = at - next.at;
  return {
    ...book,
    turns: book.turns.map((turn) => ({ at: turn.at + byMs, latestAt: turn.latestAt + byMs })),
  };
}
