import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { defineScript } from '../../redis/scripts.ts';
import type { ListedAttempt } from '../store/delivery-records.ts';
import { readAtOnce, type Journal, type Listed } from '../store/journal.ts';

/** A filter on attempts; null = all. Times are milliseconds on Redis's clock. */
export interface AttemptFilter {
  readonly subscription: string | null;
  /** Ids of the subscriptions to search if `subscription` is null; missing or null = all. */
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

/**
 * A place in the list of an account's attempts: the time at which they were written and the number within
 * that millisecond, `<15 digits>-<15 digits>`, then their subscription. The greater one of two texts is that
 * of the newer attempt.
 */
type Place = string;

/** The attempts of one subscription while a page is put together. */
interface Source {
  readonly subscription: string;
  /** The attempts not found yet come after this place. Null if there are no more. */
  unread: Place | null;
  found: AttemptOf[];
}

// Maximum number of records that are read for one page with a filter.
const readMax = 20_000;
// Number of streams whose newest entries are looked up at once.
const streamsAtOnce = 200;
// Milliseconds that may lie between the end of an attempt and the writing of it.
const writtenWithinMs = 10_000;
const newestMs = 10 ** 15 - 1;

// KEYS   streams of attempts
// ARGV   for each the newest id to consider
// Reply  for each the id of its newest entry up to there; '' if there is none or the key cannot be read
const newestScript = defineScript(`
local ids = {}
for i, key in ipairs(KEYS) do
  local entry = redis.pcall('XREVRANGE', key, ARGV[i], '-', 'COUNT', 1)[1]
  ids[i] = entry and entry[1] or ''
end
return ids`);

/** The attempts of all subscriptions of an account as one list. */
export function createAttemptList(redis: RedisClient, keys: Keys, journal: Pick<Journal, 'read'>) {
  // The sources with attempts, the one with the newest attempt first.
  async function open(
    account: string,
    { subscription: only, among = null }: AttemptFilter,
    start: Place,
  ): Promise<Source[]> {
    if (only !== null) return [{ subscription: only, unread: start, found: [] }];
    const key = keys.account(account);
    const ids = (among ?? (await redis.hkeys(key.subscriptions))).toSorted();
    const sources: Source[] = [];
    for (let from = 0; from < ids.length; from += streamsAtOnce) {
      const some = ids.slice(from, from + streamsAtOnce);
      const streams = some.map((id) => key.subscription(id).attempts);
      const bounds = some.map((id) => boundBehind(start, id));
      // Redis serves other clients in between.
      const reply = (await newestScript.run(redis, streams, bounds)) as string[];
      for (const [i, newest] of reply.entries()) {
        const { [i]: subscription = '' } = some;
        const [ms = 0, number = 0] = newest.split('-').map(Number);
        if (newest !== '')
          sources.push({ subscription, unread: place(ms, number + 1, subscription), found: [] });
      }
    }
    return sources.toSorted((a, b) => (topOf(a) < topOf(b) ? 1 : -1));
  }

  return {
    /**
     * Up to `limit` attempts, newest first, behind `after`, the `next` of the page before. With a filter at
     * most 20 000 are read, so a page may hold fewer of them, or none, and still have a next one.
     */
    async list(
      account: string,
      filter: AttemptFilter,
      after: string | null,
      limit: number,
    ): Promise<Listed<AttemptOf>> {
      const having = membersOf(filter);
      const isFiltered = Object.keys(having).length > 0 || filter.after !== null || filter.before !== null;
      const to = filter.after === null ? '-' : String(Math.max(0, filter.after - writtenWithinMs));
      const sources = await open(account, filter, after ?? startOf(filter));
      const wanted = limit + 1;
      const atOnce = isFiltered ? readAtOnce : Math.max(4, Math.ceil((2 * wanted) / sources.length));
      const items: AttemptOf[] = [];
      let read = 0;
      for (;;) {
        const newest = sources.shift();
        if (newest === undefined || topOf(newest) === '') return { items, next: null };
        const { subscription, unread } = newest;
        const found = newest.found.shift();
        if (found !== undefined) {
          const last = items.at(-1);
          if (items.length === limit && last !== undefined) return { items, next: placeOf(last) };
          items.push(found);
        } else {
          if (isFiltered && read >= readMax) return { items, next: unread };
          const from = boundBehind(unread ?? '', subscription);
          const stretch = { order: 'newest', from, to, having, readMax: atOnce, wanted: atOnce } as const;
          const some = await journal.read(account, subscription, 'attempts', stretch);
          read += some.read;
          newest.unread = some.next === null ? null : placeOf({ id: some.next.slice(1), subscription });
          newest.found = some.found
            .map((attempt) => ({ ...attempt, subscription }))
            .filter(({ at }) => at >= (filter.after ?? 0) && at < (filter.before ?? Infinity));
        }
        const top = topOf(newest);
        const behind = sources.findIndex((source) => topOf(source) < top);
        sources.splice(behind < 0 ? sources.length : behind, 0, newest);
      }
    },
  };
}

function place(ms: number, number: number, subscription: string): Place {
  return `${[ms, number].map((part) => String(part).padStart(15, '0')).join('-')} ${subscription}`;
}

function placeOf({ id, subscription }: Pick<AttemptOf, 'id' | 'subscription'>): Place {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  return place(ms, number, subscription);
}

// The start of a subscription's attempts behind a place, in the form of XREVRANGE.
function boundBehind(at: Place, subscription: string): string {
  const [id = '', other = ''] = at.split(' ');
  return `${subscription < other ? '' : '('}${id.split('-').map(Number).join('-')}`;
}

// The place of the next attempt, found or not yet; '' if there is none.
function topOf({ found: [first], unread }: Source): Place {
  return first === undefined ? (unread ?? '') : placeOf(first);
}

function startOf({ before, subscription }: AttemptFilter): Place {
  return place(before === null ? newestMs : before + writtenWithinMs, 0, subscription ?? '');
}

function membersOf({ eventId, filingId, outcome }: AttemptFilter): Partial<ListedAttempt> {
  const members = Object.entries({ eventId, filingId, outcome });
  return Object.fromEntries(members.filter(([, value]) => value !== null));
}
