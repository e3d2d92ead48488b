import type { RedisClient } from '../../redis/connection/connect.ts';

const idStart = 'poll-';
// Number of schedulers that are read at a time.
const schedulersAtOnce = 200;

/** Id of the scheduler of an account. Ids may not consist of digits alone, which an account's name may. */
export function schedulerId(account: string): string {
  return idStart + account;
}

/** The account of a scheduler; null when it is none of an account. */
export function accountOf(id: string): string | null {
  return id.startsWith(idStart) ? id.slice(idStart.length) : null;
}

/**
 * The accounts that have a scheduler in one BullMQ queue; one that comes or goes meanwhile may be left out.
 */
export async function* scheduledIn(redis: RedisClient, repeatKey: string): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const [next, members] = await redis.zscan(repeatKey, cursor, 'COUNT', schedulersAtOnce);
    // Members and scores take turns.
    for (let i = 0; i < members.length; i += 2) {
      const account = accountOf(members[i] ?? '');
      if (account !== null) yield account;
    }
    cursor = next;
  } while (cursor !== '0');
}
