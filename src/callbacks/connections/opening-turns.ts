import { createNewcomers } from '../../waiting/newcomers.ts';

/**
 * Begins a request: `onOpened` is to be called when the connection is open that it opens; without it, one is
 * free for the request if it is dispatched at once.
 */
type Begin = (onOpened?: () => void) => void;

/** Turns to open TLS connections, and to use those that become free meanwhile. */
export interface OpeningTurns {
  /**
   * Calls `begin` once: when a connection to the place has become free, or when it may open another one.
   * Those of one account begin in the order of the calls, and accounts by turns.
   */
  wait(place: string, account: string, begin: Begin): void;
  /** Removes the request whose turn it is to use a connection to the place; undefined where none waits. */
  next(place: string): Begin | undefined;
}

/** The requests that wait for a connection to one place, and how many have got one that became free. */
interface Place {
  /** By account, the account whose turn is next first; one stays while it is served in `openFor`. */
  readonly queues: Map<string, Begin[]>;
  served: number;
  countedFrom: number;
  isServedOften: boolean;
}

// Number of TLS connections being opened at which no more begin. Each keeps the process from all else for up
// to two milliseconds.
const openingMax = 32;
// Milliseconds for which those that were served are counted, and the number from which they are many.
const countedMs = 50;
const manyServed = 50;

/**
 * No request waits yet. While the process is busy, no connection is opened to a place where a thousand a
 * second become free: it would make nothing faster, and opening one costs as much as ten callbacks.
 */
export function createOpeningTurns(isBusy: () => boolean): OpeningTurns {
  const turns = createNewcomers({ max: openingMax });
  const places = new Map<string, Place>();

  // One for each account that waits for a place.
  async function openFor(name: string, account: string, place: Place, queue: Begin[]): Promise<void> {
    while (queue.length > 0) {
      // One after the other: each takes a turn.
      // oxlint-disable no-await-in-loop
      const ended = await turns.begin(1, account);
      const isHeldBack = isBusy() && isServedOften(place);
      const begin = isHeldBack ? undefined : queue.shift();
      if (begin === undefined) ended(1);
      else begin(() => ended(1));
      if (isHeldBack) await new Promise((resolve) => setTimeout(resolve, countedMs));
      // oxlint-enable no-await-in-loop
    }
    place.queues.delete(account);
    if (place.queues.size === 0) places.delete(name);
  }

  return {
    wait(name, account, begin) {
      const place = places.get(name) ?? newPlace();
      places.set(name, place);
      const queue = place.queues.get(account);
      if (queue === undefined) {
        const begun = [begin];
        place.queues.set(account, begun);
        void openFor(name, account, place, begun);
      } else queue.push(begin);
    },
    next(name) {
      const place = places.get(name);
      if (place === undefined) return undefined;
      for (const [account, queue] of place.queues) {
        const begin = queue.shift();
        if (begin === undefined) continue;
        place.queues.delete(account);
        place.queues.set(account, queue);
        place.served += 1;
        return begin;
      }
      return undefined;
    },
  };
}

function newPlace(): Place {
  return { queues: new Map(), served: 0, countedFrom: performance.now(), isServedOften: false };
}

function isServedOften(place: Place): boolean {
  const now = performance.now();
  const passed = now - place.countedFrom;
  if (passed >= countedMs) {
    place.isServedOften = place.served * countedMs >= manyServed * passed;
    place.served = 0;
    place.countedFrom = now;
  }
  return place.isServedOften;
}
