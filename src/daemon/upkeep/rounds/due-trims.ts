import type { EventLog } from '../../../events/event-log.ts';
import { createBoundedMap } from '../../../memory/bounded-map.ts';
import { failureOf } from '../../../redis/unreadable-record.ts';

export interface DueTrimsDeps {
  readonly log: Pick<EventLog, 'trim' | 'outlineAfter'>;
  /** The time before which events are removed, null while nothing may be. */
  readonly before: () => number | null;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Milliseconds after which a log is looked at again although nothing in it should be due: Redis may have been
// set back.
const lookAgainMs = 3_600_000;
// Maximum number of accounts whose next time is remembered, about a hundred bytes each.
const rememberedMax = 100_000;

/**
 * Removes an account's events that were kept long enough. A log is read only when its oldest event is due,
 * and once an hour. An unreadable log is skipped: the polls of its account report it.
 */
export function createDueTrims({ log, before, now }: DueTrimsDeps): (account: string) => Promise<void> {
  // Per account, from which `before` on it is looked at.
  const dueFrom = createBoundedMap<string, number>(rememberedMax);

  async function trim(account: string, kept: number): Promise<void> {
    const begunAt = now();
    await log.trim(account, kept);
    const [oldest] = await log.outlineAfter(account, 0, 1);
    // Events of a log that is empty now are no older than now.
    const next = oldest === undefined ? begunAt : oldest.recordedAt + 1;
    dueFrom.set(account, Math.min(next, kept + lookAgainMs));
  }

  return async (account) => {
    const kept = before();
    if (kept === null) return;
    const from = dueFrom.get(account) ?? 0;
    // A time further away than any was noted before the clock was set back.
    if (kept < from && from <= kept + lookAgainMs) return;
    await failureOf(() => trim(account, kept));
  };
}
