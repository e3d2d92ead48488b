import { createSharedWork } from '../../memory/shared-work.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { accountsAtOnce, type AccountPage } from './account-slices.ts';
import { tryParseAccount } from '../stored-account.ts';

/** The record of an account. */
export type AccountRecord = readonly [account: string, text: string];

/**
 * The accounts in the order of their names, kept in one step with their records. If names are missing, they
 * are listed again, in slices, at the next question that finds it out.
 */
export interface AccountNames {
  /**
   * The records that follow a name, at most `limit`, unreadable ones included; no others are read. A page
   * costs one command, and one more for each `limit` of removals under way on it.
   */
  page(
    after: string,
    limit: number,
  ): Promise<Pick<AccountPage, 'hasMore'> & { readonly records: readonly AccountRecord[] }>;
  /**
   * Writes the record of an account where it still has the one that was read, null for none; with `value`
   * null it is removed. False when it was changed meanwhile. Atomic.
   */
  write(account: string, expected: string | Buffer | null, value: string | null): Promise<boolean>;
}

const triesMax = 3;

/** The names in a sorted set beside the hash of accounts. */
export function createAccountNames(redis: RedisClient, keys: Keys): AccountNames {
  const writeScript = loadScript(new URL('write-account.lua', import.meta.url));
  const readScript = loadScript(new URL('read-names.lua', import.meta.url));
  const listScript = loadScript(new URL('list-names.lua', import.meta.url));
  const { names, unsound, rejecting } = keys.accountLists;
  const all = [keys.accounts, names, unsound, rejecting];

  async function tryList(): Promise<boolean> {
    let place = '0';
    do {
      // Redis serves other clients between the slices.
      const next = await listScript.run(redis, all, [place, accountsAtOnce]);
      // Another process has ended the listing; the next read finds out how.
      if (next === null) return true;
      place = next as string;
    } while (place !== '0');
    return (await listScript.run(redis, all, ['', 0])) === 1;
  }

  const list = createSharedWork(async () => {
    for (let tries = 0; tries < triesMax; tries += 1) if (await tryList()) return;
    throw new Error('the accounts changed under every attempt to list their names');
  });

  async function read(after: string, count: number): Promise<AccountRecord[]> {
    for (let tries = 0; tries <= triesMax; tries += 1) {
      const reply = await readScript.run(redis, [keys.accounts, names, rejecting], [after, count]);
      if (reply !== null) {
        const [found, texts] = reply as [string[], string[]];
        return found.map((account, i) => [account, texts[i] ?? '']);
      }
      await list('');
    }
    throw new Error('the list of accounts was dropped under every attempt to read it');
  }

  return {
    async page(after, limit) {
      const found: AccountRecord[] = [];
      for (let from = after; found.length <= limit;) {
        const some = await read(from, limit + 1);
        // The records of removals under way are no accounts.
        found.push(
          ...some.filter(([account, text]) => tryParseAccount(keys.accounts, account, text) !== null),
        );
        if (some.length <= limit) break;
        from = some.at(-1)?.[0] ?? from;
      }
      return { records: found.slice(0, limit), hasMore: found.length > limit };
    },
    async write(account, expected, value) {
      const values = [account, expected === null ? '' : '1', expected ?? '', value ?? ''];
      return (await writeScript.run(redis, all, values)) === 1;
    },
  };
}
