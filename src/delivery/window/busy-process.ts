import { performance } from 'node:perf_hooks';

// The share of its time in which the event loop of a busy process has work to do.
const busyFrom = 0.95;
// Milliseconds for which a measure holds, and over which it is taken at least.
const sampleMs = 50;

/**
 * Tells whether this process's event loop had next to no rest since the measure before the last one. A measure
 * is taken when it is asked and the last one is old enough; a time in which nobody asked counts with the rest.
 */
export function createBusyWatch(): () => boolean {
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
