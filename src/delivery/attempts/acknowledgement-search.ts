import { snapshotType } from '../../events/event-types.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import type { Journal } from '../store/journal.ts';
import { writtenWithinMs } from './event-deliveries.ts';

/** An event or a snapshot that a subscription may have acknowledged. */
export interface Sought {
  readonly filingId: string;
  /** Id of the event, or id of the filing as JSON for its snapshots. */
  readonly key: string;
  /** When it was recorded, or begun; milliseconds on Redis's clock. */
  readonly at: number;
  /** Whether it was acknowledged, or given up, even if the attempt is no longer found. */
  readonly isSettled: boolean;
}

/** When attempts and dead letters last made way to later ones, milliseconds on Redis's clock; 0 for never. */
export interface Dropped {
  readonly attemptsDroppedAt: number;
  readonly deadLettersDroppedAt: number;
}

/** When each key was acknowledged. Null if it was, but the time is not known. */
export type Found = Map<string, number | null>;

// Number of attempts in which the acknowledgement of an event nearly always is, from a moment before it was
// recorded on; and maximum number that are searched for all others of a subscription together.
const nearMax = 75;
const nearMs = 100;
const farMax = 5_000;
// Number of keys that one script seeks near their events, and of attempts that it reads otherwise: it keeps
// Redis busy for about two milliseconds.
const soughtAtOnce = 50;
const readAtOnce = 500;

/** Searches the attempts and dead letters of subscriptions. */
export function createAcknowledgementSearch(redis: RedisClient, keys: Keys, journal: Pick<Journal, 'read'>) {
  const script = loadScript(new URL('find-acknowledged.lua', import.meta.url));

  // Returns the last attempt that was read, '' at the end of all.
  async function find(
    attempts: string,
    asked: readonly (readonly [from: string, readMax: number, key: string])[],
    found: Found,
  ): Promise<string> {
    const reply = await script.run(redis, [attempts], [snapshotType, ...asked.flat()]);
    const [last = '', ...times] = reply as string[];
    for (const [i, [, , key]] of asked.entries()) if (times[i]) found.set(key, Number(times[i]));
    return last;
  }

  async function findNear(attempts: string, sought: readonly Sought[], found: Found): Promise<void> {
    for (let i = 0; i < sought.length; i += soughtAtOnce) {
      const asked = sought
        .slice(i, i + soughtAtOnce)
        .map(({ at, key }) => [msId(at - nearMs), nearMax, key] as const);
      // Redis serves other clients in between.
      await find(attempts, asked, found);
    }
  }

  // Reads on from the first of them, however far behind its event it was acknowledged.
  async function findFar(attempts: string, sought: readonly Sought[], found: Found): Promise<void> {
    let from = msId(earliest(sought));
    for (let read = 0; read < farMax; read += readAtOnce) {
      const open = sought.filter(({ key }) => !found.has(key)).map(({ key }) => [from, 0, key] as const);
      if (open.length === 0) return;
      const last = await find(attempts, [[from, readAtOnce, ''], ...open], found);
      if (last === '') return;
      from = `(${last}`;
    }
  }

  // Whether the subscription has given up an event. True of every event if there are too many to search.
  async function readGivenUp(account: string, id: string, from: string): Promise<(event: string) => boolean> {
    const stretch = { order: 'oldest', from, to: '+', readMax: farMax, wanted: farMax } as const;
    const { found, next } = await journal.read(account, id, 'dead', stretch);
    const dead = new Set(found.map(({ eventId }) => eventId));
    return (event) => next !== null || dead.has(event);
  }

  // The time before which attempts have made way to later ones; 0 while none has.
  async function goneBefore(attempts: string, { attemptsDroppedAt }: Dropped): Promise<number> {
    if (attemptsDroppedAt === 0) return 0;
    const [oldest] = await redis.xrange(attempts, '-', '+', 'COUNT', 1);
    return Math.min(attemptsDroppedAt, Number.parseInt(oldest?.[0] ?? '0', 10) - nearMs);
  }

  /** Finds when a subscription acknowledged each of these, which are in the order of their times. */
  return async (account: string, id: string, sought: readonly Sought[], dropped: Dropped): Promise<Found> => {
    const { attempts } = keys.account(account).subscription(id);
    const gone = await goneBefore(attempts, dropped);
    const isKept = ({ at, isSettled }: Sought): boolean => !isSettled || at >= gone;
    const found: Found = new Map();
    await findNear(attempts, sought.filter(isKept), found);
    const others = sought.filter(({ key }) => !found.has(key));
    if (others.length === 0) return found;
    await findFar(attempts, others.filter(isKept), found);
    const isGivenUp = await readGivenUp(account, id, msId(earliest(others)));
    for (const { key, isSettled } of others)
      if (isSettled && !found.has(key) && !isGivenUp(key)) found.set(key, null);
    return found;
  };
}

// The first record that may be of one of these.
function earliest(sought: readonly Sought[]): number {
  return (sought[0]?.at ?? 0) - writtenWithinMs;
}

// The first id of a stream at this time.
function msId(ms: number): string {
  return String(Math.max(0, Math.floor(ms)));
}
