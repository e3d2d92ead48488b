import { setImmediate as othersFirst } from 'node:timers/promises';

/** Maps a list piece by piece; the first error ends it. */
export type MapInTurns = <T, R>(list: readonly T[], map: (item: T) => R) => Promise<R[]>;

/**
 * For lists whose items take long to decode: one piece of `size` items is mapped in each turn of the event
 * loop, over all callers, so that other work of the process goes on in between.
 */
export function createTurns(size: number): MapInTurns {
  let last: Promise<unknown> = Promise.resolve();
  return async (list, map) => {
    type Mapped = ReturnType<typeof map>;
    const mapped: Mapped[] = [];
    for (let from = 0; from < list.length; from += size) {
      const piece = list.slice(from, from + size);
      const turn: Promise<Mapped[]> = last.then(async () => {
        await othersFirst();
        return piece.map(map);
      });
      last = turn.catch(() => undefined);
      mapped.push(...(await turn));
    }
    return mapped;
  };
}
