import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import {
  firstMark,
  laterMark,
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
  /**
   * Marks a store that has no mark, by the seals found in it; a mark cannot put off what has begun. Returns
   * the mark that counts.
   */
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
    if (mark !== 'bound') mark = laterMark(mark, await readMark());
  }

  return {
    stage: () => sealStage(mark, now()),
    look,
    async settle(kinds) {
      if (mark === null) {
        const first = firstMark(kinds, now());
        await redis.setnx(keys.seals, markText(first));
        await look();
        mark ??= first;
      }
      // Where bound seals are, the time to begin has come, whatever the mark says.
      if (kinds.bound > 0) mark = laterMark(mark, now()) ?? mark;
      return mark;
    },
    async conclude({ former }) {
      if (former > 0 || !mayBeMarkedBound(mark, now())) return false;
      await redis.set(keys.seals, markText('bound'));
      mark = 'bound';
      return true;
    },
  };
}
