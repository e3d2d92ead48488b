import type { AccountStore } from '../../accounts/account-store.ts';
import type { Config } from '../../config/config.ts';
import type { PollQueue } from '../../polling/schedule/poll-queue.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';

export interface DefaultAccountDeps {
  readonly accounts: Pick<AccountStore, 'get' | 'getKeyed' | 'put'>;
  readonly pollQueue: Pick<PollQueue, 'isScheduled' | 'schedule' | 'pollNow'>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

const name = 'default';

/**
 * Creates or updates the account `default` from the environment and schedules its polls, which any process
 * may run. An account that already agrees keeps its intervals and its schedule. One whose record or key
 * cannot be read is written anew, as by PUT. Safe in several processes at once.
 */
export async function putDefaultAccount(
  { accounts, pollQueue, now }: DefaultAccountDeps,
  settings: NonNullable<Config['defaultAccount']>,
): Promise<void> {
  const stored = await keyedOrError(accounts, name);
  const agrees =
    stored !== null &&
    !(stored instanceof Error) &&
    stored.baseUrl === settings.baseUrl &&
    stored.partnerKey === settings.partnerKey;
  if (!agrees) await accounts.put(name, { ...settings, pollIntervalMs: null, sweepIntervalMs: null }, now());
  else if (await pollQueue.isScheduled(name)) return;
  const account = await accounts.get(name);
  if (account === null) return;
  await pollQueue.schedule(name, account.pollIntervalMs);
  if (stored !== null) await pollQueue.pollNow(name, 'delta');
}

/** An account with its key, or the error if its record or its key cannot be read. */
export async function keyedOrError({ getKeyed }: Pick<AccountStore, 'getKeyed'>, account: string) {
  try {
    return await getKeyed(account);
  } catch (error) {
    if (error instanceof SealError || toUnreadable(error) !== null) return error as Error;
    throw error;
  }
}
