import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { SubscriptionKeys } from '../../../src/redis/keys.ts';

/** A filing's lane as it is stored. */
export interface StoredLane {
  readonly positions: readonly number[];
  readonly spent: number;
  readonly tried: number;
  readonly dueAt: number;
  readonly decidedAt: number;
}

/** What the store holds for the delivery to the subscription of these keys. */
export function storedDelivery(redis: RedisClient, own: SubscriptionKeys) {
  return {
    /** The keys of its delivery that exist. */
    keys: async () => (await redis.keys(`${own.state}*`)).toSorted(),
    /** The fields of its state. */
    state: () => redis.hgetall(own.state),
    setState: (fields: Readonly<Record<string, string | number>>) => redis.hset(own.state, fields),
    /** Its lanes by filing; those of replays are not among them. */
    async lanes(): Promise<Record<string, StoredLane>> {
      const texts = await redis.hgetall(own.lanes);
      return Object.fromEntries(
        Object.entries(texts).map(([filing, text]) => [filing, JSON.parse(text) as StoredLane]),
      );
    },
    setLane: (filing: string, lane: StoredLane) => redis.hset(own.lanes, filing, JSON.stringify(lane)),
    /** Number of lanes of replays. */
    replayLanes: () => redis.hlen(own.replayLanes),
    /** Number of dead letters. */
    deadLetters: () => redis.xlen(own.dead),
    addDeadLetter: (letter: object) => redis.xadd(own.dead, '*', 'd', JSON.stringify(letter)),
    /** Stored attempts, oldest first. */
    attempts: async () =>
      (await redis.xrange(own.attempts, '-', '+')).map(
        ([, [, text]]) => JSON.parse(text ?? '') as Record<string, unknown>,
      ),
    /** Stores attempts as they are given; each under this id of an entry, by default the next one. */
    async addAttempts(attempts: readonly object[], entry = '*'): Promise<void> {
      const pipeline = redis.pipeline();
      for (const attempt of attempts) pipeline.xadd(own.attempts, entry, 'a', JSON.stringify(attempt));
      await pipeline.exec();
    },
    dropAttempts: () => redis.del(own.attempts),
    /** Puts a text in the place of its attempts. */
    spoilAttempts: () => redis.set(own.attempts, 'no stream'),
    /** Bytes that Redis uses for attempts or dead letters. */
    memory: async (kind: 'attempts' | 'dead') => Number(await redis.memory('USAGE', own[kind], 'SAMPLES', 0)),
  };
}
