import { createEventLog } from '../events/event-log.ts';
import { isSettled } from '../partner/filing-statuses.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { escapeGlob } from '../redis/scan-keys.ts';
import { setAside, UnreadableRecordError, type OnUnreadable } from '../redis/unreadable-record.ts';
import {
  answeredGroup,
  lastTime,
  memberOf,
  ofMember,
  rankLength,
  timeOfRank,
  type FilingIndexName,
} from './detection/age-rank.ts';
import { encodeState, isReadableState, StoredState, type FilingState } from './detection/filing-state.ts';
import { seenStatus } from './detection/triage.ts';

/** Reads the states of filings; see `StateReader`. */
export type ReadStates = StateReader['read'];

/** The states of filings in the hash of their account. */
export type StateReader = ReturnType<typeof createStateReader>;

// Maximum number of ids of one read, which keeps Redis busy.
const idsAtOnceMax = 1_000;
// Number of members of the index that one command looks at: a millisecond.
const membersAtOnce = 5_000;

/** Reads states in Redis, and sets those aside that cannot be read. */
export function createStateReader(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable) {
  const log = createEventLog(redis, keys);

  // An index has members by status and time, so it is looked through.
  async function indexed(account: string, name: FilingIndexName, id: string) {
    const index = keys.account(account)[name];
    const pattern = `*${memberOf('', '?'.repeat(rankLength), escapeGlob(id))}`;
    let cursor = '0';
    do {
      const [next, [member]] = await redis.zscan(index, cursor, 'MATCH', pattern, 'COUNT', membersAtOnce);
      if (member !== undefined) {
        const group = member.slice(0, -memberOf('', '?'.repeat(rankLength), id).length);
        const status = group === answeredGroup ? seenStatus : group;
        return { status, time: timeOfRank(ofMember(group, member).rank) };
      }
      cursor = next;
    } while (cursor !== '0');
    return null;
  }

  // The status is the one under which the filing is listed: no list has COMPLETED filings and removed ones.
  // The sequence is one that the filing cannot have reached. If receivers may lack the present status, the
  // next read leads to an event in any case.
  async function unknown(account: string, id: string): Promise<FilingState> {
    const found = await indexed(account, 'index', id);
    const { status, time: since } = found ?? { status: 'COMPLETED', time: 0 };
    const at = (found && (await indexed(account, 'effective', id)))?.time ?? lastTime;
    const { position: sequence } = await log.head(account);
    const times = { since, readFrom: 0, readAt: 0 };
    const restate = isSettled(status) ? { restate: true } : {};
    const answers = Object.entries(await redis.hgetall(keys.account(account).answers));
    const answer = answers.find(([, rejection]) => rejection === id);
    return {
      status,
      completedAt: null,
      rejectionReason: null,
      sequence,
      ...times,
      removed: false,
      ...restate,
      ...(at === lastTime ? {} : { effective: { stateAbbr: '', at } }),
      ...(answer === undefined ? {} : { answeredBy: answer[0] }),
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

  async function decode(
    account: string,
    ids: readonly string[],
    texts: readonly (string | null)[],
  ): Promise<(StoredState | null)[]> {
    const states: (StoredState | null)[] = [];
    for (const [i, id] of ids.entries()) {
      const text = texts[i] ?? null;
      const readable = text === null || isReadableState(text) ? text : await toUnknown(account, id);
      states.push(readable === null ? null : new StoredState(readable));
    }
    return states;
  }

  return {
    /** Like `read`, but from texts of the hash that were already read, each null if the hash has none. */
    decode,
    /**
     * States of filings in the order of their ids; null for filings never seen. Takes a round trip per
     * thousand ids, each of them atomic. A state that cannot be read is set aside, and an unknown one put in
     * its place; if another process was quicker, its state is returned.
     */
    async read(account: string, ids: readonly string[]): Promise<(StoredState | null)[]> {
      const { filings } = keys.account(account);
      const states: (StoredState | null)[] = [];
      for (let from = 0; from < ids.length; from += idsAtOnceMax) {
        const some = ids.slice(from, from + idsAtOnceMax);
        states.push(...(await decode(account, some, await redis.hmget(filings, ...some))));
      }
      return states;
    },
  };
}
