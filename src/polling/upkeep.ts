import { setTimeout as delay } from 'node:timers/promises';

export interface UpkeepOptions {
  /** Milliseconds from the beginning of the work, and from the end of each run, to the next run. */
  readonly everyMs: number;
  /** A failure stops neither the work nor the next run. */
  readonly onError: (error: Error) => void;
}

/** Does `work`. Meanwhile `upkeep` runs every `everyMs`, never twice at once. Resolves as `work` does. */
export async function meanwhile<T>(
  upkeep: () => Promise<void>,
  { everyMs, onError }: UpkeepOptions,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const kept = keepUp(upkeep, everyMs, onError, over.signal);
  try {
    return await work();
  } finally {
    over.abort();
    await kept;
  }
}

/**
 * As `meanwhile`, with `upkeep` once more when the work has ended, however it ended. Rejects with the last
 * upkeep's error, or else as `work` does.
 */
export async function withUpkeep<T>(
  upkeep: () => Promise<void>,
  options: UpkeepOptions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await meanwhile(upkeep, options, work);
  } finally {
    await upkeep();
  }
}

async function keepUp(
  upkeep: () => Promise<void>,
  everyMs: number,
  onError: (error: Error) => void,
  over: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(everyMs, null, { signal: over }).catch(() => null);
    if (over.aborted) return;
    await upkeep().catch(onError);
  }
}
