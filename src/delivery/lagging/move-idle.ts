import type { Checkpoint } from '../../events/timeline.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { matchesEvent, type Wishes } from '../../subscriptions/matches-event.ts';
import type { KindsAfter } from './newest-kinds.ts';

/** Subscriptions behind the head for which nothing else waits, all with the same cursor. */
export interface IdleBehind {
  readonly cursor: Checkpoint;
  /** The versions of their settings, as stored, by their ids. */
  readonly versions: ReadonlyMap<string, string>;
}

/** One look at an account's subscriptions. */
export interface LookAtIdle {
  readonly account: string;
  /** Where the cursors go. */
  readonly head: Checkpoint;
  /** The kinds of the events up to there. */
  readonly kindsAfter: KindsAfter;
  /** Settings by ids, read after the versions; those that cannot be read are missing or undefined. */
  readonly settings: ReadonlyMap<string, Wishes | undefined>;
  /** Milliseconds on Redis's clock. */
  readonly at: number;
}

/**
 * Moves the cursors of subscriptions that want none of the events up to the head, and returns the ids of the
 * others, which need a drain. Nothing is decided by an event's body: one that a content filter has to judge
 * counts as wanted. Atomic for those of one cursor; a crash leaves the others as they were. A drain under way
 * is not disturbed: it writes its own cursor, which may be further back.
 */
export type MoveIdle = (look: LookAtIdle, behind: readonly IdleBehind[]) => Promise<string[]>;

/** Moves over one connection. */
export function createIdleMover(redis: RedisClient, keys: Keys): MoveIdle {
  const script = loadScript(new URL('move-idle.lua', import.meta.url));

  return async ({ account, head, kindsAfter, settings, at }, behind) => {
    const key = keys.account(account);
    const left: string[] = [];
    for (const { cursor, versions } of behind) {
      const kinds = await kindsAfter(cursor);
      const unasked: string[] = [];
      for (const [id, version] of versions) {
        const wishes = settings.get(id);
        if (kinds === null || wishes === undefined || kinds.some((kind) => matchesEvent(wishes, kind)))
          left.push(id);
        else unasked.push(id, version);
      }
      if (unasked.length === 0) continue;
      const places = [cursor.position, cursor.timeline, head.position, head.timeline];
      const reply = await script.run(
        redis,
        [key.head, key.events],
        [at, key.subscription('').state, ...places, ...unasked],
      );
      left.push(...(reply as string[]));
    }
    return left;
  };
}
