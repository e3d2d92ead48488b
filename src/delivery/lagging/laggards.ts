import { randomUUID } from 'node:crypto';
import { toCheckpoint, type EventLog } from '../../events/event-log.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import type { Wishes } from '../../subscriptions/matches-event.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import { createIdleMover, type IdleBehind, type LookAtIdle } from './move-idle.ts';
import { createNewestKinds } from './newest-kinds.ts';
import { needsDrain, nextLookAt } from './next-look.ts';

/**
 * Finds the subscriptions of an account that lag behind the log or have an attempt due. One that is behind
 * and wants none of the new events is no laggard: its cursor moves (`MoveIdle`). The findings of a
 * look at all of them are kept in Redis. Until the account gets an event or a subscription, or another writer
 * gives one of them work, later looks read those of which something is due and no others. A look at all of
 * them comes every five minutes at the latest, and after a step of the clock. Nothing is kept of an account
 * without subscriptions.
 */
export interface Laggards {
  /**
   * The subscriptions that need a drain now; with `all` without regard to former looks. A look at all of them
   * also reads their settings, so that those which cannot be read are reported, by every look until they are
   * repaired.
   */
  find(account: string, all: boolean): Promise<FoundLaggards>;
}

export interface LaggardsDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Pick<EventLog, 'head' | 'outlineBefore'>;
  /**
   * Reads the filters of these subscriptions, by their ids. Undefined where one cannot be read, which is
   * reported; those that are gone are left out.
   */
  readonly filtersOf: (
    account: string,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, Wishes | undefined>>;
  /** Delivery states in the order of the ids; one that cannot be read shows as blocked. */
  readonly deliveries: (account: string, ids: readonly string[]) => Promise<DeliveryState[]>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /**
   * The time on this clock since which it did not step, as far as this process knows: what an earlier look
   * has found may be of a clock that was ahead.
   */
  readonly steadySince: () => number;
}

const allEveryMs = 5 * 60_000;
// Maximum number of subscriptions in one script: about two milliseconds.
const lookedAtOnce = 500;

/** The findings of one look. */
export interface FoundLaggards {
  readonly ids: readonly string[];
  /** False when the settings of some were found to be unreadable. */
  readonly areReadable: boolean;
}

/** Looks over one connection. */
export function createLaggards({
  redis,
  keys,
  log,
  filtersOf,
  deliveries,
  now,
  steadySince,
}: LaggardsDeps): Laggards {
  const beginScript = loadScript(new URL('begin-look.lua', import.meta.url));
  const findScript = loadScript(new URL('find-waiting.lua', import.meta.url));
  const endScript = loadScript(new URL('end-look.lua', import.meta.url));
  const moveIdle = createIdleMover(redis, keys);

  // Those of some subscriptions for which anything waits, once the cursors of the others have moved. With
  // `all` their settings are read in any case.
  async function waitingOf(
    look: Omit<LookAtIdle, 'settings'>,
    ids: readonly string[],
    all: boolean,
  ): Promise<{ readonly waiting: string[]; readonly areReadable: boolean }> {
    const { account, at } = look;
    const { lagging, head, subscriptions, resting, subscription } = keys.account(account);
    const reply = await findScript.run(
      redis,
      [lagging, head, subscriptions, resting],
      [at, subscription('').state, ...ids],
    );
    const { waiting, behind } = toFound(reply as FoundReply);
    const judged = behind.flatMap(({ versions }) => [...versions.keys()]);
    // After the versions, which were found with the cursors.
    const settings = await filtersOf(account, all ? ids : judged);
    const left = await moveIdle({ ...look, settings }, behind);
    const areReadable = [...settings.values()].every((each) => each !== undefined);
    return { waiting: [...waiting, ...left], areReadable };
  }

  return {
    async find(account, all) {
      const { lagging, head, subscriptions } = keys.account(account);
      const at = now();
      const id = randomUUID();
      const ageMax = Math.min(allEveryMs, at - steadySince());
      const begun = await beginScript.run(
        redis,
        [lagging, head, subscriptions],
        [at, ageMax, id, all ? '1' : ''],
      );
      if (begun === null) return { ids: [], areReadable: true };
      const [kept, mark, ids] = begun as ['0' | '1', string, string[]];
      // Rejects where the head cannot be read.
      const known = toCheckpoint(mark.slice(mark.indexOf(' ') + 1)) ?? (await log.head(account));
      const { position } = known;
      const look = { account, head: known, kindsAfter: createNewestKinds(log, account, known), at };
      const laggards: string[] = [];
      let areReadable = true;
      for (let from = 0; from < ids.length; from += lookedAtOnce) {
        const part = ids.slice(from, from + lookedAtOnce);
        // Redis serves other clients in between.
        const found = await waitingOf(look, part, kept === '0');
        areReadable &&= found.areReadable;
        const states = await deliveries(account, found.waiting);
        const next = new Map(part.map((each): [string, number | ''] => [each, '']));
        for (const [i, each] of found.waiting.entries()) {
          const { [i]: state } = states;
          if (state === undefined || needsDrain(state, position, at)) laggards.push(each);
          next.set(each, state === undefined ? at : (nextLookAt(state, position, at) ?? ''));
        }
        // A look at all leaves out some that wait for a later time: their entries stay.
        const noted = kept === '1' ? next : new Map([...next].filter(([, time]) => time !== ''));
        await endScript.run(redis, [lagging], [kept === '1' ? mark : `+${id}`, '', at, ...[...noted].flat()]);
      }
      if (kept === '0' && areReadable) await endScript.run(redis, [lagging], [`+${id}`, mark, at]);
      return { ids: laggards, areReadable };
    },
  };
}

// The reply of find-waiting.lua.
type FoundReply = [waiting: string[], behind: (string | string[])[]];

interface Found {
  readonly waiting: string[];
  readonly behind: readonly IdleBehind[];
}

function toFound([waiting, flat]: FoundReply): Found {
  const behind: IdleBehind[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    const cursor = toCheckpoint(`${String(flat[i])} ${String(flat[i + 1])}`);
    const those = pairs(flat[i + 2] as string[]);
    // The drain reports a cursor that is none.
    if (cursor === null) waiting.push(...those.keys());
    else behind.push({ cursor, versions: those });
  }
  return { waiting, behind };
}

function pairs(flat: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) found.set(flat[i] ?? '', flat[i + 1] ?? '');
  return found;
}
