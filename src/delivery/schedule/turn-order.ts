/** A kind of event that waits for its turn. */
export type Kind = 'first' | 'retry' | 'replay';

const retriesEvery = 4;
const replaysEvery = 16;

/**
 * The order in which kinds of events are tried at a start: first attempts, retries, replays. At intervals a
 * later kind comes first, so that none waits for ever. Probes alternate between kinds: if all of them were
 * the same poison event, a recovered endpoint would never be found.
 */
export function turnOrder(start: number, probe: boolean): readonly Kind[] {
  if (start % replaysEvery === 0 && !probe) return replayFirst;
  return start % (probe ? 2 : retriesEvery) === 0 ? retryFirst : usualOrder;
}

const usualOrder: readonly Kind[] = ['first', 'retry', 'replay'];
const retryFirst: readonly Kind[] = ['retry', 'first', 'replay'];
const replayFirst: readonly Kind[] = ['replay', 'first', 'retry'];
