import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import { decodeRecord, type OnUnreadable, readOrLeaveOut } from '../../redis/unreadable-record.ts';
import { type ListedAttempt, parseListed } from '../store/delivery-records.ts';
import { createRecordScan, memberText, scannedAtOnce } from './scan-records.ts';

/**
 * A place in the list of an account's attempts, which begins with the newest: by the time at which they were
 * written, and of one moment by their subscriptions.
 */
interface Place {
  /** Milliseconds on Redis's clock, and the number within that millisecond. */
  readonly ms: number;
  readonly number: number;
  readonly subscription: string;
}

const form = /^(\d{1,15})-(\d{1,15})(?: (sub_[0-9A-Za-z]{1,64})?)?$/;

/** The place of an attempt. */
function placeOf({ id, subscription }: { readonly id: string; readonly subscription: string }): Place {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  return { ms, number, subscription };
}

/** The place right before an attempt. */
function placeBefore(id: string, subscription: string): Place {
  const { ms, number } = placeOf({ id, subscription });
  return { ms, number: number + 1, subscription };
}

/** The place before everything of a subscription that was written before `ms`. */
function placeAt(ms: number, subscription: string): Place {
  return { ms, number: 0, subscription };
}

/** Whether `a` comes behind `b`: it is older. */
function isBehind(a: Place, b: Place): boolean {
  if (a.ms !== b.ms) return a.ms < b.ms;
  return a.number === b.number ? a.subscription < b.subscription : a.number < b.number;
}

/**
 * Where the attempts of a subscription behind a place begin, as XREVRANGE takes it; null = with the newest.
 */
function boundBehind(place: Place | null, subscription: string): string {
  if (place === null || place.ms === Infinity) return '+';
  const isBehindIt = subscription < place.subscription;
  return `${isBehindIt ? '' : '('}${place.ms}-${place.number}`;
}

/** A place as a text for `parsePlace`. */
function placeText({ ms, number, subscription }: Place): string {
  return `${ms}-${number} ${subscription}`;
}

/** The place in a text, null where it is none. Without a subscription it is that of `only`. */
function parsePlace(text: string, only: string): Place | null {
  const [, ms, number, subscription = only] = form.exec(text) ?? [];
  return ms === undefined ? null : { ms: Number(ms), number: Number(number), subscription };
}

/** A filter on attempts; null = all. Times are milliseconds on Redis's clock. */
export interface AttemptFilter {
  readonly subscription: string | null;
  /** The ids of the subscriptions to look at where `subscription` names none; missing or null = all. */
  readonly among?: readonly string[] | null;
  readonly eventId: string | null;
  readonly filingId: string | null;
  readonly outcome: string | null;
  /** Ended at this time or later. */
  readonly after: number | null;
  /** Ended earlier than this time. */
  readonly before: number | null;
}

/** An attempt with the subscription that it was made for. */
export interface AttemptOf extends ListedAttempt {
  readonly subscription: string;
}

/** A page of attempts, newest first. */
export interface AttemptPage {
  readonly items: readonly AttemptOf[];
  /** Where the next page begins; null at the end of the list. */
  readonly next: string | null;
}

/** The attempts of an account. */
export interface AttemptList {
  /**
   * Up to `limit` attempts behind `after`, the `next` of the page before. With a filter at most 20 000 are
   * read, so a page may hold fewer of them, or none, and still have a next one.
   */
  list(account: string, filter: AttemptFilter, after: string | null, limit: number): Promise<AttemptPage>;
}

// Maximum number of records that are read for one page with a filter.
const readMax = 20_000;
// Number of streams whose newest entries are looked up at once.
const streamsAtOnce = 200;
// Milliseconds that may lie between the end of an attempt and the writing of it.
const writtenWithinMs = 10_000;

// KEYS   streams of attempts
// ARGV   for each where to begin, newest first
// Reply  for each the id of its newest entry from there on, '' where there is none, or the key cannot be read
const newestScript = defineScript(`
local ids = {}
for i, key in ipairs(KEYS) do
  local entry = redis.pcall('XREVRANGE', key, ARGV[i], '-', 'COUNT', 1)[1]
  ids[i] = entry and entry[1] or ''
end
return ids`);

/** The attempts of one subscription while a page is put together. */
interface Source {
  readonly subscription: string;
  readonly key: string;
  /** The places of attempts that are not found yet lie behind this one; null when there is no more. */
  unread: Place | null;
  found: AttemptOf[];
}

/** The attempts in Redis: a stream per subscription. */
export function createAttemptList(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable = () => undefined,
): AttemptList {
  const scan = createRecordScan(redis);

  function parse(account: string, { subscription, key }: Source, id: string, text: string): AttemptOf[] {
    return readOrLeaveOut(account, onUnreadable, () => ({
      ...(decodeRecord(key, id, text, parseListed) as AttemptOf),
      id,
      subscription,
    }));
  }

  // The sources with attempts, that with the newest attempt first.
  async function open(
    account: string,
    { subscription: only, among = null }: AttemptFilter,
    start: Place | null,
  ): Promise<Source[]> {
    const key = keys.account(account);
    const source = (subscription: string, unread: Place | null): Source => {
      return { subscription, key: key.subscription(subscription).attempts, unread, found: [] };
    };
    if (only !== null) return [source(only, start ?? placeAt(Infinity, only))];
    const ids = (among ?? (await redis.hkeys(key.subscriptions))).toSorted();
    const sources: Source[] = [];
    for (let from = 0; from < ids.length; from += streamsAtOnce) {
      const some = ids.slice(from, from + streamsAtOnce);
      const reply = await newestScript.run(
        redis,
        some.map((id) => key.subscription(id).attempts),
        some.map((id) => boundBehind(start, id)),
      );
      for (const [i, newest] of (reply as string[]).entries())
        if (newest !== '') sources.push(source(some[i] ?? '', placeBefore(newest, some[i] ?? '')));
    }
    return sources.toSorted((a, b) => (isBehind(a.unread as Place, b.unread as Place) ? 1 : -1));
  }

  return {
    async list(account, filter, after, limit) {
      const holding = textsOf(filter);
      const isFiltered = holding.length > 0 || filter.after !== null || filter.before !== null;
      const end = filter.after === null ? '-' : String(Math.max(0, filter.after - writtenWithinMs));
      const start = startOf(filter, after);
      const waiting = await open(account, filter, start);
      const wanted = limit + 1;
      const atOnce = isFiltered ? scannedAtOnce : Math.max(4, Math.ceil((2 * wanted) / waiting.length));
      const opened: Source[] = [];
      const items: AttemptOf[] = [];
      let read = 0;
      for (;;) {
        const best = nextSource(opened, waiting);
        if (best === null) return { items, next: null };
        const found = best.found.shift();
        if (found !== undefined) {
          items.push(found);
          if (items.length < wanted) continue;
          const page = items.slice(0, limit);
          return { items: page, next: placeText(placeOf(page.at(-1) as AttemptOf)) };
        }
        if (isFiltered && read >= readMax) return { items, next: placeText(best.unread as Place) };
        const from = boundBehind(best.unread, best.subscription);
        const stretch = { order: 'newest', from, to: end, holding, readMax: atOnce, wanted: atOnce } as const;
        const scanned = await scan(best.key, stretch);
        read += scanned.read;
        best.unread =
          scanned.last === null ? null : placeOf({ id: scanned.last, subscription: best.subscription });
        best.found = scanned.found
          .flatMap(({ id, text }) => parse(account, best, id, text))
          .filter((attempt) => passes(filter, attempt));
      }
    },
  };
}

// The source whose next attempt, found or not yet, is the newest; null when all are read to their end.
function nextSource(opened: Source[], waiting: Source[]): Source | null {
  let best: Source | null = null;
  for (const source of opened) {
    const place = topOf(source);
    if (place !== null && (best === null || isBehind(topOf(best) as Place, place))) best = source;
  }
  const [first] = waiting;
  if (first === undefined) return best;
  if (best !== null && !isBehind(topOf(best) as Place, first.unread as Place)) return best;
  waiting.shift();
  opened.push(first);
  return first;
}

function topOf({ found: [first], unread }: Source): Place | null {
  return first === undefined ? unread : placeOf(first);
}

function startOf({ before, subscription }: AttemptFilter, after: string | null): Place | null {
  if (after !== null) return parsePlace(after, subscription ?? '');
  return before === null ? null : placeAt(before + writtenWithinMs, subscription ?? '');
}

function textsOf({ eventId, filingId, outcome }: AttemptFilter): string[] {
  const members = Object.entries({ eventId, filingId, outcome });
  return members.flatMap(([name, value]) => (value === null ? [] : memberText(name, value)));
}

function passes({ eventId, filingId, outcome, after, before }: AttemptFilter, attempt: AttemptOf): boolean {
  if (eventId !== null && attempt.eventId !== eventId) return false;
  if (filingId !== null && attempt.filingId !== filingId) return false;
  if (outcome !== null && attempt.outcome !== outcome) return false;
  return (after === null || attempt.at >= after) && (before === null || attempt.at < before);
}
