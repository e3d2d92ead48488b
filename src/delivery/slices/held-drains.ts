import type { RedisClient } from '../../redis/connection/connect.ts';
import { loadScript } from '../../redis/scripts.ts';

/** The keys of a queue that has the jobs of an account, all of one hash slot. */
export interface DrainKeys {
  /** Deduplication key of a drain or a slice by its deduplication id. */
  deduplication(id: string): string;
  /** Where a wake-up waits for the job that is under way. */
  next(id: string): string;
  lock(job: string): string;
}

/** A slice's job in the hands of a worker. */
export interface SliceJob {
  readonly id: string;
  readonly token: string;
  /** Deduplication id of the slice. */
  readonly slice: string;
}

/** The subscriptions of a slice for which no other drain is under way. */
export interface HeldDrains {
  /**
   * Takes the drains; returns the subscriptions that other jobs have. Repeating it changes nothing. None is
   * taken, and all are returned, when the job has passed to another worker, which may have ended it.
   */
  hold(keys: DrainKeys, job: SliceJob, drains: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Gives drains back; returns those that were woken meanwhile. None is given back when the job has passed to
   * another worker, which runs them again.
   */
  release(keys: DrainKeys, job: SliceJob, drains: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Holds by BullMQ's own deduplication keys. */
export function createHeldDrains(redis: RedisClient): HeldDrains {
  const holdScript = loadScript(new URL('hold-drains.lua', import.meta.url));
  const releaseScript = loadScript(new URL('release-drains.lua', import.meta.url));
  const named = (drains: readonly string[], numbers: unknown) =>
    new Set((numbers as number[]).map((number) => drains[number - 1] ?? ''));

  return {
    async hold(keys, { id, token, slice }, drains) {
      const used = [keys.deduplication(slice), keys.lock(id), ...drains.map(keys.deduplication)];
      return named(drains, await holdScript.run(redis, used, [id, token]));
    },
    async release(keys, { id, token }, drains) {
      const used = drains.flatMap((drain) => [keys.deduplication(drain), keys.next(drain)]);
      const woken = await releaseScript.run(redis, [keys.lock(id), ...used], [id, token]);
      return woken === null ? new Set() : named(drains, woken);
    },
  };
}
