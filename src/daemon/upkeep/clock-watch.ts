import type { Logger } from 'pino';
import { clockStepMsMin, synchroniseEveryMs, type Clock } from '../../redis/clock.ts';

export interface ClockWatchDeps {
  readonly clock: Pick<Clock, 'now' | 'synchronise'>;
  /** Milliseconds on the process's own clock. */
  readonly wallClock: () => number;
  readonly logger: Logger;
  readonly onError: (error: Error) => void;
}

/**
 * Synchronises with Redis's clock every ten seconds, and logs when the process's own clock and Redis's begin
 * or cease to differ. Returns the function that ends it.
 */
export function watchClock({ clock, wallClock, logger, onError }: ClockWatchDeps): () => void {
  let differed = false;
  const look = async () => {
    await clock.synchronise();
    const aheadMs = clock.now() - wallClock();
    const differs = Math.abs(aheadMs) >= clockStepMsMin;
    if (differs && !differed) logger.warn({ redisAheadMs: aheadMs }, 'clock.differs');
    if (!differs && differed) logger.info('clock.agrees');
    differed = differs;
  };
  const timer = setInterval(() => {
    look().catch(onError);
  }, synchroniseEveryMs);
  look().catch(onError);
  return () => clearInterval(timer);
}
