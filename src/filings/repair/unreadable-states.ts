import { createEventLog } from '../../events/event-log.ts';
import { isSettled } from '../../partner/filing-statuses.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { setAside, UnreadableRecordError, type OnUnreadable } from '../../redis/unreadable-record.ts';
import { encodeState, isReadableState, type FilingState } from '../detection/filing-state.ts';

/** Puts an unknown state in place of one that cannot be read. */
export interface UnreadableStates {
  /**
   * Returns the state of a filing as stored afterwards; null when it was removed in the meantime. If another
   * process was quicker, its state is returned.
   */
  toReadable(account: string, id: string, text: string): Promise<string | null>;
}

/** Sets states aside in Redis. */
export function createUnreadableStates(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable,
): UnreadableStates {
  const log = createEventLog(redis, keys);

  // The status is the one under which the filing is listed: no list has COMPLETED filings and removed ones.
  // The sequence is one that the filing cannot have reached. If receivers may lack the present status, the
  // next read leads to an event in any case.
  async function unknown(account: string, id: string): Promise<FilingState> {
    const { counts, index } = keys.account(account);
    const statuses = await redis.hkeys(counts);
    const scores = await Promise.all(statuses.map((each) => redis.zscore(index, `${each}\0${id}`)));
    const status = statuses.find((_, i) => scores[i] !== null) ?? 'COMPLETED';
    const { position: sequence } = await log.head(account);
    const times = { since: 0, readFrom: 0, readAt: 0 };
    const restate = isSettled(status) ? { restate: true } : {};
    return {
      status,
      completedAt: null,
      rejectionReason: null,
      sequence,
      ...times,
      removed: false,
      ...restate,
    };
  }

  async function toUnknown(account: string, id: string): Promise<string | null> {
    const key = keys.account(account);
    for (;;) {
      const held = await redis.hgetBuffer(key.filings, id);
      if (held === null || isReadableState(held.toString())) return held?.toString() ?? null;
      const value = encodeState(await unknown(account, id));
      if (!(await setAside(redis, key, { key: key.filings, field: id, held, value }))) continue;
      onUnreadable(account, new UnreadableRecordError(key.filings, id), 'set_aside');
      return value;
    }
  }

  return {
    toReadable: async (account, id, text) => (isReadableState(text) ? text : await toUnknown(account, id)),
  };
}
