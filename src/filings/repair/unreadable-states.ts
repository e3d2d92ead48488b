import type { EventLog } from '../../events/event-log.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { replaceUnreadable } from '../../redis/set-aside.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { encodeState, isReadableState } from '../detection/filing-state.ts';
import { recoverState, type Evidence } from './recover-state.ts';

/** Puts a state in place of one that cannot be read. */
export interface UnreadableStates {
  /**
   * Returns the state of a filing as stored afterwards; null when it was removed meanwhile. If another
   * process was quicker, its state is returned. A state of a newer format stays as it is.
   */
  toReadable(account: string, id: string, text: string): Promise<string | null>;
}

export interface UnreadableStatesDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Pick<EventLog, 'positionsOf' | 'readAt' | 'outlineAfter' | 'head'>;
  readonly onUnreadable: OnUnreadable;
}

/** Rebuilds states from the log and the index, see `recoverState`. */
export function createUnreadableStates({
  redis,
  keys,
  log,
  onUnreadable,
}: UnreadableStatesDeps): UnreadableStates {
  async function evidenceOf(account: string, id: string): Promise<Evidence> {
    const positions = await log.positionsOf(account, id);
    const [entry] = (await log.readAt(account, positions.slice(-1))).entries;
    return {
      newest: entry === undefined ? null : { entry, body: parseBody(entry.body) },
      indexed: await indexed(account, id),
      eventsMax: (await trimmed(account)) + positions.length,
    };
  }

  // There are few statuses, so each is looked up.
  async function indexed(account: string, id: string): Promise<string | null> {
    const { counts, index } = keys.account(account);
    const statuses = await redis.hkeys(counts);
    const scores = await Promise.all(statuses.map((status) => redis.zscore(index, `${status}\0${id}`)));
    return statuses.find((_, i) => scores[i] !== null) ?? null;
  }

  async function trimmed(account: string): Promise<number> {
    const [oldest] = await log.outlineAfter(account, 0, 1);
    return oldest === undefined ? (await log.head(account)).position : oldest.position - 1;
  }

  async function rebuild(account: string, id: string): Promise<string | null> {
    const key = keys.account(account);
    for (;;) {
      const held = await redis.hgetBuffer(key.filings, id);
      if (held === null) return null;
      if (isReadableState(held.toString())) return held.toString();
      const value = encodeState(recoverState(await evidenceOf(account, id)));
      if (!(await replaceUnreadable(redis, key, { key: key.filings, field: id, held, value }))) continue;
      const reason = 'it is garbage or was cut short';
      onUnreadable({ account, kind: 'filings', key: key.filings, field: id, reason, remedy: 'rebuilt' });
      return value;
    }
  }

  return {
    toReadable: async (account, id, text) => (isReadableState(text) ? text : await rebuild(account, id)),
  };
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
