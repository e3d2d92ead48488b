import { expect, vi } from 'vitest';
import { appendEvent, paidEvent } from '../../../support/redis/append-script.ts';
import type { Harness } from '../drain-harness.ts';

/** What happens during a look: before it reads the log for the first time, with its settings read, or after. */
export interface Meanwhile {
  readonly beforeRead?: () => Promise<unknown>;
  readonly afterRead?: () => Promise<unknown>;
}

/** Settings that ask for nothing that these tests append. */
export const unasked = { eventTypes: ['filing.rejected'] };

/** The looks at a harness whose wake-ups are only noted. */
export function watchLooks(harness: Harness) {
  const wake = vi.spyOn(harness.queue, 'wake').mockResolvedValue();
  async function woken(): Promise<readonly string[] | undefined> {
    await harness.waker.wakeLagging(harness.account);
    return wake.mock.lastCall?.[1];
  }
  return {
    /** Whom a look at all of them wakes. */
    woken,
    /** The same of a look that reads the log, with something done meanwhile. */
    async wokenWhile({ beforeRead, afterRead }: Meanwhile): Promise<readonly string[] | undefined> {
      const { outlineBefore } = harness.log;
      const reading = vi.spyOn(harness.log, 'outlineBefore').mockImplementationOnce(async (...args) => {
        await beforeRead?.();
        const entries = await outlineBefore(...args);
        await afterRead?.();
        return entries;
      });
      const found = await woken();
      expect(reading).toHaveBeenCalled();
      reading.mockRestore();
      return found;
    },
    async placeOf(id: string) {
      const { cursor: position, timeline } = await harness.state(id);
      return { position, timeline };
    },
    head: () => harness.log.head(harness.account),
    /** Appends an event of a type of its own, of a filing without a state. */
    appendPaid: (filing: string) => appendEvent(harness.redis, harness.keys, paidEvent(filing), Date.now()),
  };
}
