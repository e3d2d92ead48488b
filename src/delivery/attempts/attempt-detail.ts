import { formatBody } from '../../callbacks/body-formats.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { decodeRecord } from '../../redis/unreadable-record.ts';
import { parseListed, type ListedAttempt } from '../store/delivery-records.ts';
import { createRecordScan, memberText, scannedAtOnce, type ScannedStretch } from './scan-records.ts';

/** The request of an attempt, written once more; custom headers have no values. */
export interface AttemptRequest {
  readonly url: string;
  readonly contentType: string;
  /** Whole seconds. */
  readonly timestamp: number;
  readonly signature: string;
  /** Names of the custom headers. */
  readonly names: readonly string[];
  readonly body: string;
}

/** Why the request of an attempt is not known: it was not kept, or its event is no longer in the log. */
export type RequestMissing = 'not_kept' | 'event_trimmed';

/** One attempt in full. */
export interface AttemptDetail {
  readonly attempt: ListedAttempt;
  readonly request: AttemptRequest | RequestMissing;
  /** The nearest attempts of the event for the same subscription, on both sides, newest first. */
  readonly earlier: readonly ListedAttempt[];
  readonly later: readonly ListedAttempt[];
}

/** Reads an attempt in full; null when there is none, or no longer. Throws UnreadableRecordError. */
export type ReadAttempt = (
  account: string,
  subscription: string,
  id: string,
) => Promise<AttemptDetail | null>;

// Maximum number of attempts on each side, and of records that are searched for them.
const nearMax = 20;
const searchedMax = 5_000;

/** Reads attempts over one connection. */
export function createAttemptReader(
  redis: RedisClient,
  keys: Keys,
  log: Pick<EventLog, 'outlineAt' | 'load'>,
  publicUrl: string | null = null,
): ReadAttempt {
  const scan = createRecordScan(redis);

  async function near(
    key: string,
    { id, eventId }: ListedAttempt,
    order: ScannedStretch['order'],
  ): Promise<ListedAttempt[]> {
    const attempts: ListedAttempt[] = [];
    const to = order === 'oldest' ? '+' : '-';
    const holding = [memberText('eventId', eventId)];
    let [from, read]: [string | null, number] = [id, 0];
    while (from !== null && read < searchedMax && attempts.length < nearMax) {
      const wanted = nearMax - attempts.length;
      const stretch = { order, from: `(${from}`, to, holding, readMax: scannedAtOnce, wanted };
      const found = await scan(key, stretch);
      for (const each of found.found) attempts.push({ ...decode(key, each.id, each.text), id: each.id });
      ({ last: from } = found);
      read += found.read;
    }
    return attempts;
  }

  async function requestOf(
    account: string,
    { request, eventId, filingId }: ListedAttempt,
  ): Promise<AttemptRequest | RequestMissing> {
    if (request === undefined) return 'not_kept';
    const { position, format = 'standard', payload = 'full', names = [], body, ...sent } = request;
    const bytes = body === undefined ? await logged(account, eventId, position) : Buffer.from(body);
    if (bytes === null) return 'event_trimmed';
    const sender = { account, format, payload, publicUrl };
    const written = formatBody(sender, { id: eventId, filingId, body: bytes });
    const { url, timestamp, signature } = sent;
    const { contentType } = written;
    return { url, contentType, timestamp, signature, names, body: written.bytes.toString() };
  }

  async function logged(account: string, eventId: string, position: number): Promise<Buffer | null> {
    const [outline] = await log.outlineAt(account, [position]);
    const [entry] = outline?.id === eventId ? await log.load(account, [outline]) : [];
    return entry?.body ?? null;
  }

  return async (account, subscription, id) => {
    const key = keys.account(account).subscription(subscription).attempts;
    const [entry] = await redis.xrange(key, id, id);
    if (entry === undefined) return null;
    const attempt = { ...decode(key, id, entry[1][1] ?? ''), id };
    const [request, earlier, later] = await Promise.all([
      requestOf(account, attempt),
      near(key, attempt, 'newest'),
      near(key, attempt, 'oldest'),
    ]);
    return { attempt, request, earlier, later: later.toReversed() };
  };
}

function decode(key: string, id: string, text: string): ListedAttempt {
  return decodeRecord(key, id, text, parseListed) as ListedAttempt;
}
