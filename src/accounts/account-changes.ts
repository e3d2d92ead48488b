import { untilReplicated } from '../redis/connection/wait-replicas.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { partnerKeyPlace } from '../secrets/seal-place.ts';
import type { Sealer } from '../secrets/seal.ts';
import { createAccountRecords, type HeldRecord } from './account-records.ts';
import { createAccountRemoval, type AccountRemoval } from './account-removal.ts';
import { nextOf, type AccountPatch, type AccountSettings, type StoredAccount } from './account.ts';
import { createIncarnations } from './incarnations.ts';

/**
 * A change would send the stored key to another origin than the one that it was given for; nothing was
 * written.
 */
export class KeyNeededError extends Error {
  override readonly name = 'KeyNeededError';
}

/**
 * Creates, changes and removes accounts. Each step compares with the record that was read; if another process
 * was quicker, everything is read again.
 */
export interface AccountChanges extends Omit<AccountRemoval, 'empty'> {
  /**
   * Creates an account or replaces its settings; the known filings stay. A new account takes over nothing
   * from a former account of its name, whose removal is finished first if need be.
   */
  put(account: string, settings: AccountSettings, now: number): Promise<{ created: boolean }>;
  /**
   * Changes some settings in one step; false when there is no such account. Rejects with KeyNeededError when
   * the base address moves to another origin without a key. Throws UnreadableRecordError
   * and SealError.
   */
  patch(account: string, changes: AccountPatch, now: number): Promise<boolean>;
}

export interface AccountChangesDeps {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly sealer: Sealer;
}

// The fields of an account that `put` writes; the others stay as they are, or begin now.
type PutAccount = Omit<StoredAccount, 'createdAt' | 'incarnation'>;

/** Changes to the hash of accounts and to their incarnations. */
export function createAccountChanges({ redis, keys, sealer }: AccountChangesDeps): AccountChanges {
  const records = createAccountRecords(redis, keys);
  const incarnations = createIncarnations(redis, keys);
  const { empty, ...removal } = createAccountRemoval(records, incarnations);

  const sealKey = (account: string, baseUrl: string, partnerKey: string) =>
    sealer.seal(partnerKey, partnerKeyPlace(account, baseUrl));

  // False: another process was quicker.
  async function create(account: string, held: HeldRecord, settings: PutAccount): Promise<boolean> {
    const vacancy = await empty(account, held);
    if (vacancy === null) return false;
    const incarnation = nextOf(vacancy);
    await incarnations.open(account, incarnation);
    return records.write(account, vacancy, { ...settings, incarnation, createdAt: settings.updatedAt });
  }

  async function tryPut(account: string, settings: PutAccount): Promise<'created' | 'replaced' | null> {
    const held = await records.read(account);
    const next = successor(held.found, await incarnations.current(account), settings);
    if (next !== null) return (await records.write(account, held.bytes, next)) ? 'replaced' : null;
    return (await create(account, held, settings)) ? 'created' : null;
  }

  function patched(
    account: string,
    former: StoredAccount,
    { partnerKey, ...given }: AccountPatch,
    updatedAt: number,
  ): StoredAccount {
    const next = { ...former, ...given, updatedAt };
    if (partnerKey !== undefined) return { ...next, sealedKey: sealKey(account, next.baseUrl, partnerKey) };
    if (new URL(next.baseUrl).origin !== new URL(former.baseUrl).origin)
      throw new KeyNeededError('the key was given for another origin');
    return next;
  }

  return {
    ...removal,
    async put(account, { partnerKey, ...settings }, now) {
      const sealedKey = sealKey(account, settings.baseUrl, partnerKey);
      for (;;) {
        const done = await tryPut(account, { ...settings, sealedKey, updatedAt: now });
        if (done === null) continue;
        await untilReplicated(redis, keys.accounts);
        return { created: done === 'created' };
      }
    },
    async patch(account, given, now) {
      for (;;) {
        const { bytes, found: former } = await records.read(account);
        if (former === null) return false;
        if (former instanceof Error) throw former;
        if (!(await records.write(account, bytes, patched(account, former, given, now)))) continue;
        await untilReplicated(redis, keys.accounts);
        return true;
      }
    },
  };
}

// The record to write in place of a former one; null where the account has to be created: a removal was
// under way, or the keys are another incarnation's. Then a part of the cluster was set back, and what it
// holds is of neither.
function successor(former: HeldRecord['found'], owner: string | null, settings: PutAccount) {
  if (former === null || owner === null) return null;
  // In place of a record that cannot be read: the keys themselves name their incarnation.
  if (former instanceof Error) return { ...settings, incarnation: owner, createdAt: settings.updatedAt };
  // An account whose record was written again while its keys named none has no incarnation.
  const isOwner = owner === former.incarnation || owner === '' || former.incarnation === '';
  return isOwner ? { ...former, ...settings } : null;
}
