import { performance } from 'node:perf_hooks';

// Next to no rest.
const busyDefault = 0.95;
// Milliseconds for which a measure holds, and over which it is taken at least.
const sampleMs = 50;

/**
 * Whether the event loop of this process had next to no rest between its last two measures. Each call takes a
 * measure if the last one is old enough. A long time without a call counts with the rest. `busyFrom` is the
 * share of its time in which a busy one has work to do.
 */
export function createBusyWatch(busyFrom = busyDefault): () => boolean {
  let before = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let isBusy = false;

  return () => {
    const now = performance.now();
    if (now - measuredAt < sampleMs) return isBusy;
    const { utilization } = performance.eventLoopUtilization(before);
    isBusy = utilization >= busyFrom;
    before = performance.eventLoopUtilization();
    measuredAt = now;
    return isBusy;
  };
}
