import type { SendCallbackDeps } from '../../callbacks/send-callback.ts';
import { AccountQuotaError } from '../../redis/quota/account-quota.ts';
import {
  asksForProof,
  isUnverified,
  withProof,
  type Proof,
} from '../../subscriptions/settings/verification.ts';
import type { SubscriptionStore } from '../../subscriptions/store/subscription-store.ts';
import { subscriptionHost, type Block, type Subscription } from '../../subscriptions/subscription.ts';
import { isBlocking } from '../blocked/block-policy.ts';
import type { BlockStore } from '../blocked/block-store.ts';
import { buildDisabledEvent } from '../operational-events.ts';
import type { DisableSubscription } from '../store/disable-subscription.ts';
import type { SubscriptionWaker } from '../wake.ts';
import { askEndpoint, type Asked } from './ask-endpoint.ts';
import type { ProofBudget } from './proof-budget.ts';
import { blockAfterRefusal, blockUntilTurn, hasAskedEnough } from './proof-schedule.ts';

/** The result of a question that a client has asked for. */
export type Verified =
  | { readonly kind: 'asked'; readonly asked: Asked; readonly proof: Proof | null }
  | { readonly kind: 'too_many'; readonly inMs: number }
  | { readonly kind: 'changed' }; // the settings have changed meanwhile, or the subscription is gone

/** Asks endpoints whether they want the callbacks, and writes their answers. */
export interface Verifier {
  /**
   * Asks the endpoint of an unverified subscription if it is time to, and returns when to drain (ms on
   * Redis's clock); null for not before something changes. After 24 hours without permission, and after a
   * 410, the subscription is disabled. `settings` are those of the subscription as stored. A crash leaves the
   * block as it was, so the question is asked again.
   */
  whenDue(settings: string, subscription: Subscription): Promise<number | null>;
  /**
   * Asks at once, also for a disabled subscription, which stays so. The next question is asked as planned.
   */
  now(settings: string, subscription: Subscription): Promise<Verified>;
}

export interface VerifierDeps extends SendCallbackDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'update'>;
  readonly blocks: BlockStore;
  readonly budget: ProofBudget;
  readonly disable: DisableSubscription;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly onVerified: (subscription: Subscription, proof: Proof) => void;
  /** Called after a question without permission; `block` says when the next one is asked. */
  readonly onUnverified: (subscription: Subscription, block: Block) => void;
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  readonly wakeMatching: SubscriptionWaker['wakeMatching'];
}

/** A verifier over the stores. */
export function createVerifier(deps: VerifierDeps): Verifier {
  const { blocks, budget, now } = deps;

  const turnOf = (subscription: Subscription) =>
    budget.take(subscription.account, subscriptionHost(subscription).name);

  async function holdBack(settings: string, subscription: Subscription, block: Block): Promise<number> {
    const { account, id } = subscription;
    if (!(await blocks.set(account, id, settings, block))) return now();
    return block.nextAt;
  }

  async function writeProof(asked: Subscription, { permission }: Asked): Promise<Proof | null> {
    const { verification: method = 'none' } = asked;
    if (!permission.granted || method === 'none') return null;
    const proof = { method, at: now(), allowedRate: permission.allowedRate };
    const written = await deps.subscriptions
      .update(asked.account, asked.id, ({ subscription }) => {
        if (!isSameQuestion(asked, subscription)) throw new ChangedMeanwhileError();
        return { subscription: withProof(subscription, proof), release: false };
      })
      .catch((error: unknown) => {
        if (error instanceof ChangedMeanwhileError) return null;
        throw error;
      });
    if (written === null) return null;
    deps.onVerified(written.subscription, proof);
    return proof;
  }

  async function disable(
    settings: string,
    subscription: Subscription,
    reason: string,
    occasion: number,
  ): Promise<number | null> {
    const { account, id } = subscription;
    const at = now();
    const event = buildDisabledEvent(subscription, reason, occasion, at);
    if (!(await deps.disable(account, id, settings, reason, { event, at }))) return now();
    deps.onDisabled(subscription, reason);
    await deps.wakeMatching(account, [{ type: event.type, state: '', status: '' }]);
    return null;
  }

  async function askWhenDue(
    settings: string,
    subscription: Subscription,
    former: Block | null,
  ): Promise<number | null> {
    const inMs = await turnOf(subscription);
    if (inMs > 0) return holdBack(settings, subscription, blockUntilTurn(former, now(), inMs));
    const asked = await askEndpoint(deps, subscription);
    // The process ends: another one asks.
    if (asked.outcome.kind === 'aborted') return now();
    if (asked.permission.granted) {
      await writeProof(subscription, asked);
      return now();
    }
    const since = former?.since ?? now();
    if (asked.outcome.kind === 'gone')
      return disable(settings, subscription, 'the endpoint answered 410 Gone', since);
    const block = blockAfterRefusal(former, asked, now(), deps.random);
    deps.onUnverified(subscription, block);
    return holdBack(settings, subscription, block);
  }

  return {
    async whenDue(settings, subscription) {
      const { account, id } = subscription;
      const found = await blocks.read(account, id);
      const former = found?.unverified === true ? found : null;
      if (former !== null && isBlocking(former, now())) return former.nextAt;
      if (former !== null && hasAskedEnough(former, now())) {
        const reason = 'its endpoint was not verified within 24 hours; enabling it begins anew';
        return disable(settings, subscription, reason, former.since);
      }
      try {
        return await askWhenDue(settings, subscription, former);
      } catch (error) {
        if (!(error instanceof AccountQuotaError)) throw error;
        const block = blockUntilTurn(former, now(), 60_000);
        return holdBack(settings, subscription, { ...block, reason: error.message });
      }
    },
    async now(settings, subscription) {
      const inMs = await turnOf(subscription);
      if (inMs > 0) return { kind: 'too_many', inMs };
      const asked = await askEndpoint(deps, subscription, true);
      if (asked.permission.granted) {
        const proof = await writeProof(subscription, asked);
        return proof === null ? { kind: 'changed' } : { kind: 'asked', asked, proof };
      }
      const { account, id } = subscription;
      if (isUnverified(subscription)) {
        const former = await blocks.read(account, id);
        const block = blockAfterRefusal(former, asked, now(), deps.random);
        deps.onUnverified(subscription, block);
        await blocks.set(account, id, settings, block);
      }
      return { kind: 'asked', asked, proof: null };
    },
  };
}

/** The endpoint was asked for other settings than those that are stored now. */
class ChangedMeanwhileError extends Error {
  override readonly name = 'ChangedMeanwhileError';
}

function isSameQuestion(asked: Subscription, now: Subscription): boolean {
  return asksForProof(now) && asked.url === now.url && asked.verification === now.verification;
}
