import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { quotaBytesMax, throwIfOverQuota } from '../../redis/quota/account-quota.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { OnUnreadable } from '../../redis/unreadable-record.ts';
import { endsOf } from '../certificate-warnings.ts';
import { byRequest, firstBlock } from '../subscription.ts';
import type { Subscription } from '../subscription.ts';
import { keyDigest, recallRegistration, rememberRegistration } from './registration.ts';
import type { Registration } from './registration.ts';
import { sealSubscription } from './stored-subscription.ts';
import type { SubscriptionRecord } from './stored-subscription.ts';
import { createKeyIndex } from '../public-keys.ts';
import { createSubscriptionReads, orderMembers } from './subscription-reads.ts';

/** Maximum number of subscriptions of an account. */
export const subscriptionsMax = 20_000;

/** Maximum number of idempotency keys that are remembered of an account. */
export const registrationsMax = 25_000;

/** The result of a registration. */
export type CreateResult =
  | { readonly kind: 'created' | 'replayed'; readonly subscription: Subscription }
  | { readonly kind: 'key_reused' } // the idempotency key came before with another request
  | { readonly kind: 'gone' } // the account was removed meanwhile
  | { readonly kind: 'full' } // the account has as many as it may have
  | { readonly kind: 'keys' }; // the account has used as many idempotency keys in a day as it may

/** A replay that a subscription begins with. */
export interface FirstReplay {
  readonly id: string;
  /** The same text for all replays that would send the same. */
  readonly request: string;
  /** JSON of the replay and of its state. */
  readonly replay: string;
  readonly state: string;
  /** Number of filings that it sends. */
  readonly filings: number;
}

/** How a subscription begins: enabled and without a replay, unless this says otherwise. */
export interface Beginning {
  readonly enabled?: boolean | undefined;
  readonly snapshot?: FirstReplay | null;
}

/** A change of a subscription: its new settings and the fields written beside them. */
export interface SubscriptionChange {
  readonly subscription: Subscription;
  /** Undefined leaves it as it is. */
  readonly enabled?: boolean;
  /**
   * Forgets the health of the endpoint and makes all retries due: after enabling, or when the endpoint may
   * answer otherwise now.
   */
  readonly release: boolean;
}

/** The subscriptions of all accounts. */
export type SubscriptionStore = ReturnType<typeof createSubscriptionStore>;

const idempotencyMs = 24 * 3_600_000;

const script = (file: string) => loadScript(new URL(`../scripts/${file}`, import.meta.url));
const createScript = committing(script('create-subscription.lua'));
const updateScript = committing(script('update-subscription.lua'));
const removeScript = script('remove-subscription.lua');

/** Subscriptions in Redis, their private settings sealed. */
export function createSubscriptionStore(
  redis: RedisClient,
  keys: Keys,
  sealer: Sealer,
  onUnreadable: OnUnreadable = () => undefined,
) {
  const reads = createSubscriptionReads(redis, keys, sealer, onUnreadable);
  const index = createKeyIndex(redis, keys);

  return {
    ...reads,
    /**
     * Registers a subscription with its cursor at `from`; atomic, once per idempotency key. A disabled one
     * keeps that place until it is enabled. Throws AccountQuotaError.
     */
    async create(
      subscription: Subscription,
      idempotency: Registration | null,
      { enabled = true, snapshot = null }: Beginning = {},
    ): Promise<CreateResult> {
      const { account, id, from = 'now' } = subscription;
      const { subscriptions, head, events, incarnation, quota, registrations, ...key } =
        keys.account(account);
      const { state, replays } = key.subscription(id);
      // Before it is written: a public key is found before its first signature is sent.
      await index.add(subscription);
      const text = sealSubscription(sealer, subscription);
      const remembered = key.idempotency(keyDigest(subscription, idempotency?.key ?? ''));
      const record = idempotency === null ? '' : rememberRegistration(sealer, subscription, idempotency);
      const { tokens, order, changes, certificates, certificateWarnings, delivery } = key;
      const first = await createScript.run(
        redis,
        [
          subscriptions,
          state,
          head,
          remembered,
          events,
          incarnation,
          quota,
          registrations,
          tokens,
          order,
          replays,
          changes,
          certificates,
          certificateWarnings,
          delivery,
        ],
        [
          id,
          text,
          from,
          record,
          idempotencyMs,
          subscriptionsMax,
          quotaBytesMax,
          registrationsMax,
          ...orderMembers(subscription),
          enabled ? '' : byRequest,
          blockText(subscription),
          snapshot?.id ?? '',
          snapshot?.request ?? '',
          snapshot?.replay ?? '',
          snapshot?.state ?? '',
          snapshot?.filings ?? 0,
          randomUUID(),
          ...endsOf(subscription.tls),
        ],
      );
      // An id that was not written is in no other use.
      if (first !== '') await index.remove(id);
      if (first === 'gone' || first === 'full' || first === 'keys') return { kind: first };
      throwIfOverQuota(first);
      if (first === '' || idempotency === null) return { kind: 'created', subscription };
      const earlier = recallRegistration(sealer, String(first), remembered, idempotency, subscription);
      return earlier === null ? { kind: 'key_reused' } : { kind: 'replayed', subscription: earlier };
    },
    /**
     * Applies a change to the stored subscription, and repeats that after a concurrent change. Null if there
     * is no such subscription or `change` returns null. Unreadable private settings stay sealed as they are
     * until a change sets others. A block ends with any change; a subscription that has yet to be verified
     * begins a new one. Throws UnreadableRecordError and AccountQuotaError.
     */
    async update(
      account: string,
      id: string,
      change: (record: SubscriptionRecord) => SubscriptionChange | null,
    ): Promise<SubscriptionRecord | null> {
      for (;;) {
        const before = await reads.get(account, id);
        if (before === null) return null;
        const changed = change(before);
        if (changed === null) return null;
        const { subscription, enabled, release } = changed;
        await index.add(subscription);
        const { subscriptions, quota, registrations, tokens, changes, ...key } = keys.account(account);
        const ends = [key.certificates, key.certificateWarnings];
        const written = await updateScript.run(
          redis,
          [subscriptions, key.subscription(id).state, quota, registrations, tokens, ...ends, changes],
          [
            id,
            before.text,
            sealSubscription(sealer, subscription, before),
            enabled === undefined ? '' : String(Number(enabled)),
            enabled === false ? byRequest : '',
            release ? '1' : '',
            quotaBytesMax,
            blockText(subscription),
            randomUUID(),
            subscription.rate == null ? '' : '1',
            // Settings that cannot be read stay as they are noted, unless others take their place.
            ...(before.unreadable !== null && subscription.tls === before.subscription.tls
              ? []
              : endsOf(subscription.tls)),
          ],
        );
        throwIfOverQuota(written);
        if (written !== 1) continue;
        return reads.get(account, id);
      }
    },
    /**
     * Removes a subscription with its state, lanes, attempts, dead letters and replays; atomic. A running
     * drain stops. False when there is none, or its settings are stored as another text than `expected`.
     */
    async remove(account: string, id: string, expected = ''): Promise<boolean> {
      const { subscriptions, quota, order, changes, ...key } = keys.account(account);
      const { replays, ...others } = key.subscription(id);
      const shared = [subscriptions, quota, order, key.certificates, key.certificateWarnings, changes];
      const removed = await removeScript.run(
        redis,
        [...shared, replays, ...Object.values(others)],
        [id, expected, randomUUID()],
      );
      if (removed !== 1 && expected !== '') return false;
      await index.remove(id);
      return removed === 1;
    },
  };
}

// The block that such settings begin with, as the scripts take it: JSON, or empty if there is none.
function blockText(subscription: Subscription): string {
  const block = firstBlock(subscription);
  return block === null ? '' : JSON.stringify(block);
}
