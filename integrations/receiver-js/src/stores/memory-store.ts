import { ConfigurationError } from '../errors.ts';
import { advance, judge, subjectOf, type Mark, type Store } from './store.ts';

/** How much a memory store keeps. */
export interface MemoryStoreOptions {
  /** Maximum of filings whose marks are kept; the one whose last event is the longest ago goes first. Default 10 000, some 10 MB. */
  readonly filingsMax?: number;
  /** Milliseconds that a delivery waits while an event of its filing is handled; then it is `in_flight`. Default 8 000. */
  readonly waitMs?: number;
}

/**
 * Keeps marks in the memory of this process: for tests, and for handlers that may do everything twice. After a restart, in another process, and for
 * filings that were dropped for `filingsMax`, an event counts as new.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { filingsMax = 10_000, waitMs = 8_000 } = options;
  if (!(filingsMax >= 1)) throw new ConfigurationError('filingsMax has to be 1 or more.');
  const marks = new Map<string, Mark>();
  const running = new Map<string, Promise<void>>();

  // A Map keeps the order of insertion: the first is the one whose last event is the longest ago.
  function remember(subject: string, mark: Mark): void {
    marks.delete(subject);
    marks.set(subject, mark);
    const [oldest] = marks.keys();
    if (marks.size > filingsMax && oldest !== undefined) marks.delete(oldest);
  }

  return {
    async take(delivery, handle) {
      const subject = subjectOf(delivery);
      const deadline = Date.now() + waitMs;
      for (let other = running.get(subject); other !== undefined; other = running.get(subject))
        if (!(await endsBefore(other, deadline))) return 'in_flight';
      const verdict = judge(delivery, marks.get(subject) ?? null);
      if (verdict === 'repeated' || verdict === 'stale') return verdict;
      const handled = handle({ transaction: undefined, isStale: verdict === 'take_stale' });
      const ended = handled.then(
        () => undefined,
        () => undefined,
      );
      running.set(subject, ended);
      try {
        await handled;
        remember(subject, advance(delivery, marks.get(subject) ?? null));
        return 'handled';
      } finally {
        running.delete(subject);
      }
    },
  };
}

async function endsBefore(promise: Promise<void>, deadline: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
