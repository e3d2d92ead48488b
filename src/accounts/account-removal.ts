import { randomUUID } from 'node:crypto';
import type { AccountRecords, HeldRecord } from './account-records.ts';
import { nextOf, type Vacancy } from './account.ts';
import type { Incarnations } from './incarnations.ts';

/** Removes accounts, so that others can come in their place. */
export interface AccountRemoval {
  /**
   * Removes the account and all its keys; false when there was none. From the first step on the account does
   * not exist and nothing is written for it. A crash leaves keys: `finishRemovals` removes them, and so does
   * another `remove` or `put` of the name.
   */
  remove(account: string): Promise<boolean>;
  /** Removes the remaining keys of an account in whose place this vacancy stands. */
  finishRemoval(account: string, vacancy: string): Promise<void>;
  /**
   * Empties the place of an account with this record for a new one, and returns the vacancy that stands
   * there; null: another process was quicker.
   */
  empty(account: string, held: HeldRecord): Promise<string | null>;
}

/** Removal of accounts from the hash and of the keys of their incarnations. */
export function createAccountRemoval(records: AccountRecords, incarnations: Incarnations): AccountRemoval {
  // Returns the record that stands in place of the account from now on, or stood there already; null: another
  // process was quicker.
  async function vacate(account: string, { bytes, found }: HeldRecord): Promise<string | null> {
    if (bytes !== null && found === null) return bytes.toString();
    const vacancy: Vacancy = { next: randomUUID() };
    return (await records.write(account, bytes, vacancy)) ? JSON.stringify(vacancy) : null;
  }

  const emptyKeys = (account: string, vacancy: string) =>
    incarnations.empty(account, nextOf(vacancy), async () => {
      const { bytes } = await records.read(account);
      return bytes?.toString() === vacancy;
    });

  async function finishRemoval(account: string, vacancy: string): Promise<void> {
    if (!(await emptyKeys(account, vacancy))) return;
    if (await records.write(account, vacancy, null)) await incarnations.forget(account, nextOf(vacancy));
  }

  return {
    finishRemoval,
    async empty(account, held) {
      const vacancy = await vacate(account, held);
      return vacancy !== null && (await emptyKeys(account, vacancy)) ? vacancy : null;
    },
    async remove(account) {
      for (;;) {
        const held = await records.read(account);
        if (held.bytes === null) return false;
        const vacancy = await vacate(account, held);
        if (vacancy === null) continue;
        await finishRemoval(account, vacancy);
        return held.found !== null;
      }
    },
  };
}
