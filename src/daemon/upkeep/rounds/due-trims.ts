import type { EventLog } from '../../../events/event-log.ts';
import { createBoundedMap } from '../../../memory/bounded-map.ts';
import { failureOf } from '../../../redis/unreadable-record.ts';

export interface DueTrimsDeps {
  readonly log: Pick<EventLog, 'trim' | 'outlineAfter'>;
  /** The time before which events are removed, null while nothing may be. */
  readonly before: () => number | null;
  /** Maximum bytes of a log. */
  readonly bytesMax: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Called after events were removed although they were not kept long enough yet. */
  readonly onDropped: (account: string, events: number) => void;
}

// Maximum milliseconds between two looks of this process at a log.
const lookAgainMs = 60_000;
// Maximum number of accounts whose next time is remembered, about a hundred bytes each.
const rememberedMax = 100_000;

/**
 * Removes an account's events that were kept long enough, and the oldest of a log that has too many bytes. A
 * log is looked at when its oldest event is due, and once a minute. An unreadable log is skipped: the polls
 * of its account report it.
 */
export function createDueTrims(deps: DueTrimsDeps): (account: string) => Promise<void> {
  const { log, before, bytesMax, now, onDropped } = deps;
  // Per account, when it is looked at next, and whether the last look knew what has been kept long enough.
  const looks = createBoundedMap<string, { readonly dueAt: number; readonly isByAge: boolean }>(
    rememberedMax,
  );

  async function trim(account: string, kept: number | null): Promise<void> {
    const begunAt = now();
    const { dropped } = await log.trim(account, kept ?? 0, bytesMax);
    if (dropped > 0) onDropped(account, dropped);
    const [oldest] = kept === null ? [] : await log.outlineAfter(account, 0, 1);
    // Events of a log that is empty now are no older than now.
    const next = (oldest?.recordedAt ?? begunAt) + (kept === null ? lookAgainMs : begunAt - kept + 1);
    looks.set(account, { dueAt: Math.min(next, begunAt + lookAgainMs), isByAge: kept !== null });
  }

  return async (account) => {
    const kept = before();
    const { dueAt = 0, isByAge = false } = looks.get(account) ?? {};
    // A time further away than any was noted before the clock was set back.
    const isDue = now() >= dueAt || dueAt > now() + lookAgainMs;
    if (isDue || (kept !== null && !isByAge)) await failureOf(() => trim(account, kept));
  };
}
