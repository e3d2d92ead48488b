import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import {
  firstMark,
  markText,
  mayBeMarkedBound,
  parseMark,
  sealStage,
  type SealMark,
  type SealStage,
} from '../../secrets/seal-stage.ts';
import type { SealTally } from '../../secrets/stored-secrets.ts';

/**
 * The mark in Redis by which all processes agree on the seals that they make and open. A process that has
 * found the store bound keeps to that until its end, whatever becomes of the mark.
 */
export interface SealMarkStore {
  /** The stage as of the last look, at this time. */
  stage(): SealStage;
  /** Reads the mark. */
  look(): Promise<void>;
  /** Marks a store that has no mark, by the seals found in it. Returns the mark of the store. */
  settle(kinds: SealTally['kinds']): Promise<SealMark>;
  /**
   * Marks the store as bound where no seal of the former kind was found, and none is on its way. True when
   * this process did.
   */
  conclude(kinds: SealTally['kinds']): Promise<boolean>;
}

/** A mark over one key; `now` is milliseconds on Redis's clock. */
export function createSealMark(redis: RedisClient, keys: Keys, now: () => number): SealMarkStore {
  let mark: SealMark | null = null;

  async function readMark(): Promise<SealMark | null> {
    try {
      return parseMark(await redis.get(keys.seals));
    } catch (error) {
      if (toUnreadable(error) === null) throw error;
      return 'bound'; // a key of another type, as with any other text that is no mark
    }
  }

  async function look(): Promise<void> {
    if (mark !== 'bound') mark = (await readMark()) ?? mark;
  }

  return {
    stage: () => sealStage(mark, now()),
    look,
    async settle(kinds) {
      const first = firstMark(kinds, now());
      if (mark === null) {
        await redis.setnx(keys.seals, markText(first));
        await look();
      }
      return (mark ??= first);
    },
    async conclude({ former }) {
      if (former > 0 || !mayBeMarkedBound(mark, now())) return false;
      await redis.set(keys.seals, markText('bound'));
      mark = 'bound';
      return true;
    },
  };
}
