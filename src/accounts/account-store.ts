import { randomUUID } from 'node:crypto';
import { untilReplicated } from '../redis/connection/wait-replicas.ts';
import { partnerKeyPlace } from '../secrets/seal-place.ts';
import { createAccountReads, type AccountReadsDeps } from './account-reads.ts';
import { createAccountRecords, type HeldRecord } from './account-records.ts';
import { eachSlice } from './account-slices.ts';
import { nextOf, type AccountPatch, type AccountSettings, type StoredAccount } from './account.ts';
import { createIncarnations } from './incarnations.ts';

/**
 * A change would send the stored key to another origin than the one that it was given for; nothing was
 * written.
 */
export class KeyNeededError extends Error {
  override readonly name = 'KeyNeededError';
}

/** The accounts of this deployment, as `createAccountReads` reads them, and their changes. */
export type AccountStore = ReturnType<typeof createAccountStore>;

// The fields of an account that `put` writes; the others stay as they are, or begin now.
type PutAccount = Omit<StoredAccount, 'createdAt' | 'incarnation'>;

/**
 * Accounts in one Redis hash, partner keys sealed. Each step of a change compares with the record that was
 * read; if another process was quicker, everything is read again.
 */
export function createAccountStore(deps: AccountReadsDeps) {
  const { redis, keys, sealer } = deps;
  const reads = createAccountReads(deps);
  const records = createAccountRecords(redis, keys);
  const incarnations = createIncarnations(redis, keys);

  const sealKey = (account: string, baseUrl: string, partnerKey: string) =>
    sealer.seal(partnerKey, partnerKeyPlace(account, baseUrl));

  // Returns the record that stands in place of the account from now on, or stood there already; null: another
  // process was quicker.
  async function vacate(account: string, { bytes, found }: HeldRecord): Promise<string | null> {
    if (bytes !== null && found === null) return bytes.toString();
    const vacancy = { next: randomUUID() };
    return (await records.write(account, bytes, vacancy)) ? JSON.stringify(vacancy) : null;
  }

  const emptyKeys = (account: string, vacancy: string) =>
    incarnations.empty(account, nextOf(vacancy), async () => {
      const { bytes } = await records.read(account);
      return bytes?.toString() === vacancy;
    });

  // Removes the remaining keys of an account in whose place this vacancy stands.
  async function finishRemoval(account: string, vacancy: string): Promise<void> {
    if (!(await emptyKeys(account, vacancy))) return;
    if (await records.write(account, vacancy, null)) await incarnations.forget(account, nextOf(vacancy));
  }

  // False: another process was quicker.
  async function create(account: string, held: HeldRecord, settings: PutAccount): Promise<boolean> {
    const vacancy = await vacate(account, held);
    if (vacancy === null || !(await emptyKeys(account, vacancy))) return false;
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
    ...reads,
    /**
     * Creates an account or replaces its settings; the known filings stay. A new account takes over nothing
     * from a former account of its name, whose removal is finished first if need be.
     */
    async put(account: string, { partnerKey, ...settings }: AccountSettings, now: number) {
      const sealedKey = sealKey(account, settings.baseUrl, partnerKey);
      for (;;) {
        const done = await tryPut(account, { ...settings, sealedKey, updatedAt: now });
        if (done === null) continue;
        await untilReplicated(redis, keys.accounts);
        return { created: done === 'created' };
      }
    },
    /**
     * Changes some settings in one step; false when there is no such account. Rejects with KeyNeededError
     * when the base address moves to another origin without a key. Throws UnreadableRecordError and
     * SealError.
     */
    async patch(account: string, given: AccountPatch, now: number): Promise<boolean> {
      for (;;) {
        const { bytes, found: former } = await records.read(account);
        if (former === null) return false;
        if (former instanceof Error) throw former;
        if (!(await records.write(account, bytes, patched(account, former, given, now)))) continue;
        await untilReplicated(redis, keys.accounts);
        return true;
      }
    },
    /**
     * Removes the account and all its keys; false when there was none. From the first step on the account
     * does not exist and nothing is written for it. A crash leaves keys: `finishRemovals` removes them, and
     * so does another `remove` or `put` of the name.
     */
    async remove(account: string): Promise<boolean> {
      for (;;) {
        const held = await records.read(account);
        if (held.bytes === null) return false;
        const vacancy = await vacate(account, held);
        if (vacancy === null) continue;
        await finishRemoval(account, vacancy);
        return held.found !== null;
      }
    },
    /** Finishes removals that a crash has interrupted. Harmless to removals under way. */
    async finishRemovals(): Promise<void> {
      for await (const { leaving } of eachSlice(reads.slice))
        for (const { account, vacancy } of leaving) await finishRemoval(account, vacancy);
    },
  };
}

// The record that replaces a former one; null if the account must be created: a removal was under way, or the
// keys belong to another incarnation. In that case part of the cluster was set back, and its data belongs to
// neither.
function successor(former: HeldRecord['found'], owner: string | null, settings: PutAccount) {
  if (former === null || owner === null) return null;
  // In place of a record that cannot be read: the keys themselves name their incarnation.
  if (former instanceof Error) return { ...settings, incarnation: owner, createdAt: settings.updatedAt };
  // An account whose record was written again while its keys named none has no incarnation.
  const isOwner = owner === former.incarnation || owner === '' || former.incarnation === '';
  return isOwner ? { ...former, ...settings } : null;
}
