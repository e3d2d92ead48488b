import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import {
  decodeRecord,
  parseShaped,
  readOrLeaveOut,
  type OnUnreadable,
} from '../../redis/unreadable-record.ts';
import type { FilingDetails } from '../detection/filing-details.ts';
import { decodeState, type FilingState } from '../detection/filing-state.ts';
import { markOf, maySee, type SeenMark } from '../detection/seen-mark.ts';
import { createUnreadableStates } from '../unreadable-states.ts';

/**
 * A filing as last seen, with the details by which people recognise it; they are null while it is COMPLETED.
 */
export interface ListedFiling {
  readonly id: string;
  readonly state: FilingState;
  readonly details: FilingDetails | null;
  /** The note that the present rejection was seen; null without one, and in other statuses. */
  readonly seen: SeenMark | null;
}

/** A filing and its state. */
export type KnownFiling = readonly [id: string, state: FilingState];

/**
 * Reads the records of an account's filings for lists. A state that cannot be read is set aside,
 * details are left out.
 */
export interface FilingReader {
  /** Decodes stored states, in their order; those that cannot be shown are left out. */
  decode(account: string, ids: readonly string[], texts: readonly (string | null)[]): Promise<KnownFiling[]>;
  /** Reads the states of filings, in their order; those that cannot be shown are left out. */
  states(account: string, ids: readonly string[]): Promise<KnownFiling[]>;
  /** Details and marks of filings. */
  listed(account: string, known: readonly KnownFiling[]): Promise<ListedFiling[]>;
  /** The stored details of filings, as text; null where none are kept. */
  detailTexts(account: string, ids: readonly string[]): Promise<(string | null)[]>;
  /** As `listed`, with details that were read already. */
  withDetails(
    account: string,
    known: readonly (readonly [...KnownFiling, details: string | null])[],
  ): Promise<ListedFiling[]>;
}

/** A reader of the filings in Redis. */
export function createFilingReader(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable): FilingReader {
  const unreadable = createUnreadableStates(redis, keys, onUnreadable);

  function readDetails(account: string, id: string, text: string | null): FilingDetails | null {
    if (text === null) return null;
    const { details: key } = keys.account(account);
    const [details = null] = readOrLeaveOut(account, onUnreadable, () =>
      decodeRecord(key, id, text, (json) => parseShaped<FilingDetails>(json, {})),
    );
    return details;
  }

  async function detailTexts(account: string, ids: readonly string[]): Promise<(string | null)[]> {
    return ids.length === 0 ? [] : redis.hmget(keys.account(account).details, ...ids);
  }

  // Only rejections have marks, so other lists cost nothing more.
  async function readMarks(account: string, known: readonly KnownFiling[]): Promise<Map<string, SeenMark>> {
    const rejected = known.filter(([, state]) => maySee(state));
    if (rejected.length === 0) return new Map();
    const texts = await redis.hmget(keys.account(account).seen, ...rejected.map(([id]) => id));
    return new Map(
      rejected.flatMap(([id, state], i): [string, SeenMark][] => {
        const mark = markOf(texts[i] ?? null, state);
        return mark === null ? [] : [[id, mark]];
      }),
    );
  }

  async function decode(account: string, ids: readonly string[], texts: readonly (string | null)[]) {
    const known: KnownFiling[] = [];
    for (const [i, id] of ids.entries()) {
      const text = texts[i] ?? null;
      // Null if the state was removed after it was listed.
      const readable = text === null ? null : await unreadable.toReadable(account, id, text);
      if (readable !== null) known.push([id, decodeState(readable)]);
    }
    return known;
  }

  const withDetails: FilingReader['withDetails'] = async (account, known) => {
    const marks = await readMarks(
      account,
      known.map(([id, state]) => [id, state]),
    );
    return known.map(([id, state, details]) => {
      return { id, state, details: readDetails(account, id, details), seen: marks.get(id) ?? null };
    });
  };

  return {
    decode,
    states: async (account, ids) =>
      ids.length === 0 ? [] : decode(account, ids, await redis.hmget(keys.account(account).filings, ...ids)),
    async listed(account, known) {
      const texts = await detailTexts(
        account,
        known.map(([id]) => id),
      );
      return withDetails(
        account,
        known.map(([id, state], i) => [id, state, texts[i] ?? null]),
      );
    },
    detailTexts,
    withDetails,
  };
}
