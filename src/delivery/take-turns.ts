/** Work that is done for one key at a time in this process. */
export type Turns = (key: string, work: () => Promise<void>) => Promise<void>;

/**
 * Lets the calls for a key take turns; calls for different keys do not wait for each other. One call at most
 * waits behind the running one, and further calls share its turn and its result: whatever they are about
 * has happened before it begins. A call that fails ends its turn like any other.
 */
export function createTurns(): Turns {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();

  function begin(key: string, work: () => Promise<void>): Promise<void> {
    const turn = work().finally(() => {
      if (running.get(key) === turn) running.delete(key);
    });
    running.set(key, turn);
    return turn;
  }

  async function beginAfter(before: Promise<void>, key: string, work: () => Promise<void>): Promise<void> {
    await before.catch(() => undefined);
    waiting.delete(key);
    await begin(key, work);
  }

  return (key, work) => {
    const before = running.get(key);
    if (before === undefined) return begin(key, work);
    let turn = waiting.get(key);
    if (turn === undefined) {
      turn = beginAfter(before, key, work);
      waiting.set(key, turn);
    }
    return turn;
  };
}
