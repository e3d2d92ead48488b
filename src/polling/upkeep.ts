export interface UpkeepOptions {
  /** Milliseconds from the beginning of the work, and from the end of each run, to the next run. */
  readonly everyMs: number;
  /** A failure stops neither the work nor the next run. */
  readonly onError: (error: Error) => void;
}

/**
 * Does `work`, and runs `upkeep` every `everyMs` as long as it goes on, never twice at once. Resolves as
 * `work` does, when no upkeep runs any more.
 */
export async function meanwhile<T>(
  upkeep: () => Promise<void>,
  { everyMs, onError }: UpkeepOptions,
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const runLater = () => {
    if (isOver) return;
    timer = setTimeout(() => {
      running = upkeep().catch(onError).then(runLater);
    }, everyMs);
  };
  runLater();
  try {
    return await work();
  } finally {
    isOver = true;
    clearTimeout(timer);
    await running;
  }
}
