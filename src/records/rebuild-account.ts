import type { EventLog } from '../events/event-log.ts';
import type { FilingState } from '../filings/detection/filing-state.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import { isIndexed } from '../partner/filing-statuses.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { AccountKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';
import { isUnreadable } from '../redis/unreadable-record.ts';

export interface RebuildDeps {
  readonly redis: RedisClient;
  readonly snapshot: Pick<SnapshotStore, 'scan'>;
  readonly log: Pick<EventLog, 'outlineAfter'>;
}

// Maximum number of entries of one command.
const atOnce = 1_000;
const triesMax = 10;
// Milliseconds after which keys that a crash has left half made expire.
const halfMadeMs = 600_000;

// Replaces a key by one that was made for it, or removes it where there is none.
const put = `local function put(key, made)
  redis.call('DEL', key)
  if redis.call('EXISTS', made) == 1 then
    redis.call('RENAME', made, key)
    redis.call('PERSIST', key)
  end
end
`;

// KEYS   1 head  2 filings  3 index  4 counts  5 the new index  6 the new counts  7 newest
// ARGV   1 the head  2 the number of filings, both as they were before
// Reply  1, or 0 when one of these has changed: a status changes only with an event or for a new filing
const putIndex = defineScript(`${put}
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] or redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 0 end
put(KEYS[3], KEYS[5])
put(KEYS[4], KEYS[6])
redis.call('UNLINK', KEYS[7])
return 1`);

// KEYS   1 head  2 filing-events  3 the new filing-events
// ARGV   1 the head as it was before
// Reply  1, or 0 when it has changed
const putFilingEvents = defineScript(`${put}
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
put(KEYS[2], KEYS[3])
return 1`);

/**
 * Makes the index and the counts again from the states. Filings whose state cannot be read are in neither.
 * Rejects when other commits keep changing the account.
 */
export async function rebuildIndex(
  { redis, snapshot }: RebuildDeps,
  account: string,
  key: AccountKeys,
): Promise<void> {
  const [index, counts] = [`${key.unreadable}:making:index`, `${key.unreadable}:making:counts`];
  await untilPut(async () => {
    const before = [(await redis.get(key.head)) ?? '', await redis.hlen(key.filings)] as const;
    await redis.unlink(index, counts);
    const found = new Map<string, string>();
    for await (const chunk of snapshot.scan(account)) {
      const listed = chunk.flatMap(([id, state]) => {
        const status = statusOf(state);
        if (status === null) return [];
        found.set(id, status);
        return isIndexed(status) ? [0, `${status}\0${id}`] : [];
      });
      if (listed.length > 0)
        await redis
          .pipeline()
          .zadd(index, ...listed)
          .pexpire(index, halfMadeMs)
          .exec();
    }
    const totals = new Map<string, number>();
    for (const status of found.values()) totals.set(status, (totals.get(status) ?? 0) + 1);
    if (totals.size > 0)
      await redis.pipeline().hset(counts, new Map(totals)).pexpire(counts, halfMadeMs).exec();
    return putIndex.run(
      redis,
      [key.head, key.filings, key.index, key.counts, index, counts, key.newest],
      before,
    );
  });
}

/**
 * Makes the positions of each filing's events again from the log. Rejects when other commits keep changing
 * the account.
 */
export async function rebuildFilingEvents(
  { redis, log }: RebuildDeps,
  account: string,
  key: AccountKeys,
): Promise<void> {
  const made = `${key.unreadable}:making:filing-events`;
  await untilPut(async () => {
    const head = (await redis.get(key.head)) ?? '';
    const positions = new Map<string, number[]>();
    for (let after = 0, some = await log.outlineAfter(account, 0, atOnce); some.length > 0;) {
      for (const { filingId, position } of some) {
        if (filingId !== '') positions.set(filingId, [...(positions.get(filingId) ?? []), position]);
        after = position;
      }
      some = await log.outlineAfter(account, after, atOnce);
    }
    await redis.unlink(made);
    const all = [...positions].map(([id, at]) => [id, at.join(',')] as const);
    for (let from = 0; from < all.length; from += atOnce)
      await redis
        .pipeline()
        .hset(made, new Map(all.slice(from, from + atOnce)))
        .pexpire(made, halfMadeMs)
        .exec();
    return putFilingEvents.run(redis, [key.head, key.filingEvents, made], [head]);
  });
}

async function untilPut(make: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) if ((await make()) === 1) return;
  throw new Error('the account changed under every attempt to rebuild its index');
}

// Null where the filing stands in no index and no count.
function statusOf(state: () => FilingState): string | null {
  const known = readState(state);
  return known === null || known.removed ? null : known.status;
}

function readState<T>(state: () => T): T | null {
  try {
    return state();
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}
