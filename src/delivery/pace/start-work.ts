import type { SendScheduler } from '../schedule/scheduler.ts';
import type { Work } from '../schedule/track.ts';
import type { Pacer } from './pacer.ts';

/**
 * Starts all attempts that may start now, each at its turn where the subscription has a rate. False when
 * another drain has begun. Rejects when Redis does; attempts may have been started by then.
 */
export async function startAll(
  scheduler: Pick<SendScheduler, 'startNext' | 'startable'>,
  pacer: Pacer,
  now: () => number,
  begin: (work: Work) => void,
): Promise<boolean> {
  for (;;) {
    while (pacer.mayStart()) {
      const work = scheduler.startNext(now());
      if (work === null) {
        pacer.waitsNot();
        return true;
      }
      pacer.started(work);
      begin(work);
    }
    const wanted = scheduler.startable(now());
    if (wanted === 0) {
      pacer.waitsNot();
      return true;
    }
    if (!(await pacer.ask(wanted))) return false;
    if (!pacer.mayStart()) return true;
  }
}
