import type { Parts } from '../../../src/daemon/parts.ts';
import type { StoredAccount } from '../../../src/accounts/account.ts';
import { partnerKeyPlace } from '../../../src/secrets/seal-place.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';

// Number of accounts that are written at the same time.
const atOnce = 200;
const baseUrl = 'http://127.0.0.1:9/v1';
const statuses = ['UNPAID', 'PAID', 'PENDING', 'REJECTED'];

/** The name of one of the written accounts; each has one subscription. */
export function accountName(i: number): string {
  return `account-${String(i).padStart(6, '0')}`;
}

/**
 * Writes accounts as creating and polling them would leave them, with ten filings and one subscription each:
 * one in fifty is not polled any more, one in a hundred has a subscription that fails, is two events behind
 * and waits.
 */
export async function writeAccounts(
  { redis, keys, sealer, stores, clock }: Parts,
  count: number,
): Promise<void> {
  const now = clock.now();
  for (let from = 0; from < count; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => from + i);
    // A part after the other, so that the client holds few commands.
    await Promise.all(some.map(writeAccount));
  }

  async function writeAccount(i: number): Promise<void> {
    const account = accountName(i);
    const stored: StoredAccount = {
      incarnation: '1',
      baseUrl,
      sealedKey: sealer.seal('key', partnerKeyPlace(account, baseUrl)),
      pollIntervalMs: 60_000,
      sweepIntervalMs: 3_600_000,
      createdAt: now - 86_400_000,
      updatedAt: now - 86_400_000,
    };
    const { generation } = await stores.polling.begin(account, '');
    await stores.snapshot.commit(
      account,
      generation,
      Array.from({ length: 10 }, (_, n) => filing(n)),
      now,
    );
    const at = i % 50 === 0 ? now - 3_600_000 : now;
    await stores.polling.write(
      account,
      generation,
      { baselined: true, lastCompletePollAt: at - 100, lastCompleteEndAt: at },
      1,
    );
    await writeSubscription(redis, keys.account(account), `sub_${i}`, i % 100 === 0);
    await redis.hset(keys.accounts, account, JSON.stringify(stored));
  }
}

function filing(n: number) {
  const status = statuses[n] ?? 'COMPLETED';
  const since = 1_700_000_000_000 + n;
  const times = { sequence: 0, since, readFrom: since, readAt: since };
  return {
    id: `f_${n}`,
    previous: null,
    next: { status, completedAt: null, rejectionReason: null, removed: false, ...times },
    details: null,
    event: null,
  };
}

async function writeSubscription(
  redis: RedisClient,
  own: ReturnType<Parts['keys']['account']>,
  id: string,
  isFailing: boolean,
): Promise<void> {
  const settings = { id, url: 'http://127.0.0.1:9/', eventTypes: ['*'], states: null };
  const kept = { privateSettings: 'sealed', createdAt: 1, updatedAt: 1 };
  const failing = { parked: '2', failures: '3', failingSince: '1700000000000' };
  await redis.hset(own.subscriptions, id, JSON.stringify({ ...settings, ...kept }));
  await redis.hset(own.subscription(id).state, { cursor: '0', ...(isFailing ? failing : {}) });
}
