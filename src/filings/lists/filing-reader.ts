import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import {
  decodeRecord,
  parseShaped,
  readOrLeaveOut,
  type OnUnreadable,
} from '../../redis/unreadable-record.ts';
import type { FilingDetails } from '../detection/filing-details.ts';
import type { FilingState } from '../detection/filing-state.ts';
import { triageOf, type Triage } from '../detection/triage.ts';
import { createStateReader } from '../read-states.ts';
import { createTriageStore } from '../triage-store.ts';

/**
 * A filing as last seen, with the details by which people recognise it; they are null while it is COMPLETED.
 */
export interface ListedFiling extends Triage {
  readonly id: string;
  readonly state: FilingState;
  readonly details: FilingDetails | null;
  /** The rejection that it answers; null for none. */
  readonly answers: string | null;
}

/** A filing and its state. */
export type KnownFiling = readonly [id: string, state: FilingState];

/** The stored details of filings, as text; filings without details are missing. */
export type DetailTexts = ReadonlyMap<string, string>;

/**
 * Reads the records of an account's filings for lists. A state that cannot be read is set aside, see
 * `ReadStates`; details that cannot be read are left out.
 */
export type FilingReader = ReturnType<typeof createFilingReader>;

/** A reader of the filings in Redis. */
export function createFilingReader(redis: RedisClient, keys: Keys, onUnreadable: OnUnreadable) {
  const stored = createStateReader(redis, keys, onUnreadable);
  const triage = createTriageStore(redis, keys);

  function readDetails(account: string, id: string, text: string | undefined): FilingDetails | null {
    if (text === undefined) return null;
    const { details: key } = keys.account(account);
    const [details = null] = readOrLeaveOut(account, onUnreadable, () =>
      decodeRecord(key, id, text, (json) => parseShaped<FilingDetails>(json, {})),
    );
    return details;
  }

  async function detailTexts(account: string, ids: readonly string[]): Promise<DetailTexts> {
    if (ids.length === 0) return new Map();
    const texts = await redis.hmget(keys.account(account).details, ...ids);
    return new Map(
      ids.flatMap((id, i): [string, string][] => {
        const text = texts[i] ?? null;
        return text === null ? [] : [[id, text]];
      }),
    );
  }

  return {
    /**
     * The states of filings in the order of their ids, decoded from `texts` if these were already read.
     * Filings that were never seen are left out.
     */
    async states(account: string, ids: readonly string[], texts?: readonly string[]): Promise<KnownFiling[]> {
      const states = await (texts === undefined
        ? stored.read(account, ids)
        : stored.decode(account, ids, texts));
      return ids.flatMap((id, i): KnownFiling[] => {
        const { state } = states[i] ?? {};
        return state === undefined ? [] : [[id, state]];
      });
    },
    detailTexts,
    /** Adds the notes and answers of filings, and reads their details unless they are given. */
    async listed(
      account: string,
      known: readonly KnownFiling[],
      details?: DetailTexts,
    ): Promise<ListedFiling[]> {
      const ids = known.map(([id]) => id);
      const [texts, noted, answers] = await Promise.all([
        details ?? detailTexts(account, ids),
        triage.read(account, ids),
        ids.length === 0 ? [] : redis.hmget(keys.account(account).answers, ...ids),
      ]);
      return known.map(([id, state], i) => {
        const read = readDetails(account, id, texts.get(id));
        const notes = triageOf(noted[i] ?? null, state);
        return { id, state, details: read, ...notes, answers: answers[i] ?? null };
      });
    },
  };
}
