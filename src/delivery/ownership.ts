import { randomBytes } from 'node:crypto';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { CallbackOutcome } from '../callbacks/outcome.ts';
import { createCallbackSender, type SendCallbackDeps } from '../callbacks/send-callback.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { orNull } from '../json/or-null.ts';
import { AccountQuotaError } from '../redis/quota/account-quota.ts';
import { asksForProof, isUnverified, type Proof } from '../subscriptions/options/verification.ts';
import type { SubscriptionStore } from '../subscriptions/store/subscription-store.ts';
import { subscriptionHost, type Block, type Subscription } from '../subscriptions/subscription.ts';
import { buildDisabledEvent } from './operational-events.ts';
import { goneReason, probeDelayMsMax } from './schedule/endpoint-health.ts';
import { blockAfter, isBlocking, type BlockStore } from './store/block-store.ts';
import type { DisableSubscription } from './store/disable-subscription.ts';
import type { Waker } from './wake.ts';

/** One challenge to an endpoint, and its answer. */
export interface Asked {
  /** Why the endpoint is not verified by it; null if it is. */
  readonly refusal: string | null;
  readonly outcome: CallbackOutcome;
  /** Null when there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
}

/** The result of a challenge that a client has asked for. */
export type Verified =
  | { readonly kind: 'asked'; readonly asked: Asked }
  | { readonly kind: 'too_many'; readonly inMs: number }
  | { readonly kind: 'changed' }; // the settings have changed meanwhile, or the subscription is gone

/** Asks endpoints whether they want the callbacks, and writes their answers. */
export type Verifier = ReturnType<typeof createVerifier>;

export interface VerifierDeps extends SendCallbackDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'update'>;
  readonly blocks: BlockStore;
  readonly takeTurn: TakeTurn;
  readonly disable: DisableSubscription;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly onVerified: (subscription: Subscription) => void;
  /** Called after a challenge that was not answered; `block` says when the next one is sent. */
  readonly onUnverified: (subscription: Subscription, block: Block) => void;
  readonly onDisabled: (subscription: Subscription, reason: string) => void;
  readonly wake: Waker['wake'];
}

/** Milliseconds for which the daemon asks an endpoint by itself. */
const askedForMs = 24 * 3_600_000;

const remedy = 'Answer as docs/endpoints/ownership.md says; POST …/verify asks at once.';
const tooMany =
  'The endpoint is not verified. Too many were asked within a minute: its turn comes in a moment.';

/** A verifier over the stores. */
export function createVerifier(deps: VerifierDeps) {
  const { blocks, now } = deps;

  async function formerBlock({ account, id }: Subscription): Promise<Block | null> {
    const found = await blocks.read(account, id);
    return found?.unverified === true ? found : null;
  }

  async function holdBack(settings: string, { account, id }: Subscription, block: Block): Promise<number> {
    return (await blocks.set(account, id, settings, block)) ? block.nextAt : now();
  }

  // False if the subscription is no longer the one that was asked.
  async function writeProof(asked: Subscription): Promise<boolean> {
    const verified: Proof = { method: 'challenge', at: now() };
    const isSame = ({ url, ...settings }: Subscription) => asksForProof(settings) && url === asked.url;
    const written = await deps.subscriptions.update(asked.account, asked.id, ({ subscription }) =>
      isSame(subscription) ? { subscription: { ...subscription, verified }, release: false } : null,
    );
    if (written !== null) deps.onVerified(written.subscription);
    return written !== null;
  }

  async function ask(subscription: Subscription): Promise<Verified> {
    const inMs = await deps.takeTurn(subscription.account, subscriptionHost(subscription).name);
    if (inMs > 0) return { kind: 'too_many', inMs };
    const asked = await sendChallenge(deps, subscription);
    const isKept = asked.refusal !== null || (await writeProof(subscription));
    return isKept ? { kind: 'asked', asked } : { kind: 'changed' };
  }

  // Waits as long as after any failed drain, and as long as a `Retry-After` says, up to five minutes.
  function refuse(settings: string, subscription: Subscription, former: Block | null, asked: Asked) {
    const { refusal, outcome } = asked;
    const reason = `The endpoint is not verified. ${refusal ?? ''} ${remedy}`;
    const block = blockAfter(former, reason, now(), deps.random);
    const askedMs = outcome.kind === 'slow_down' ? Math.min(outcome.retryAfterMs, probeDelayMsMax) : 0;
    const held = { ...block, nextAt: Math.max(block.nextAt, now() + askedMs), unverified: true };
    deps.onUnverified(subscription, held);
    return holdBack(settings, subscription, held);
  }

  async function disable(settings: string, subscription: Subscription, reason: string, occasion: number) {
    const { account, id } = subscription;
    const at = now();
    const event = buildDisabledEvent(subscription, reason, occasion, at);
    if (!(await deps.disable(account, id, settings, reason, { event, at }))) return now();
    deps.onDisabled(subscription, reason);
    await deps.wake(account);
    return null;
  }

  return {
    /**
     * Asks the endpoint of an unverified subscription if it is time to, and returns when to drain (ms on
     * Redis's clock); null for not before something changes. After 24 hours without a proof, and after a
     * 410, the subscription is disabled. `settings` are those of the subscription as stored. A crash leaves
     * the block as it was, so the endpoint is asked again.
     */
    async whenDue(settings: string, subscription: Subscription): Promise<number | null> {
      const former = await formerBlock(subscription);
      const { since = now(), times = 0 } = former ?? {};
      if (former !== null && isBlocking(former, now())) return former.nextAt;
      if (times > 0 && now() - since >= askedForMs) {
        const reason = 'its endpoint was not verified within 24 hours; enabling it begins anew';
        return disable(settings, subscription, reason, since);
      }
      // Nothing was asked: it counts as no challenge.
      const wait = (reason: string, inMs: number) => {
        const nextAt = now() + Math.min(inMs, probeDelayMsMax);
        return holdBack(settings, subscription, { reason, since, times, nextAt, unverified: true });
      };
      try {
        const result = await ask(subscription);
        if (result.kind === 'too_many') return await wait(tooMany, result.inMs);
        // If this process ends, another one asks.
        if (result.kind === 'changed' || result.asked.outcome.kind === 'aborted') return now();
        if (result.asked.refusal === null) return now();
        if (result.asked.outcome.kind === 'gone')
          return await disable(settings, subscription, goneReason, since);
        return await refuse(settings, subscription, former, result.asked);
      } catch (error) {
        if (!(error instanceof AccountQuotaError)) throw error;
        return wait(error.message, 60_000);
      }
    },
    /**
     * Asks at once, also for a disabled subscription, which stays so. The next challenge is sent as planned.
     */
    async now(settings: string, subscription: Subscription): Promise<Verified> {
      const result = await ask(subscription);
      if (result.kind === 'asked' && result.asked.refusal !== null && isUnverified(subscription))
        await refuse(settings, subscription, await formerBlock(subscription), result.asked);
      return result;
    },
  };
}

/**
 * Sends one challenge. It goes out as a callback does: same addresses, connection, credentials and
 * signature. It says nothing about a filing. The text stands below `data`, so that a service which answers
 * every request with its own body does not pass. Rejects only once the client is closed.
 */
async function sendChallenge(deps: SendCallbackDeps, subscription: Subscription): Promise<Asked> {
  const { account, id } = subscription;
  // A text that only its endpoint can know: 256 random bits.
  const challenge = randomBytes(32).toString('base64url');
  // No event has this type: a challenge is in no log and is never repeated.
  const body = {
    type: 'subscription.challenge',
    timestamp: new Date(deps.wallClock()).toISOString(),
    data: { account, subscription: id, challenge },
  };
  const plain = { ...subscription, format: 'standard', payload: 'full' } as const;
  const entry = {
    id: `evt_${randomBytes(16).toString('hex')}`,
    filingId: '',
    body: Buffer.from(JSON.stringify(body)),
  };
  const { outcome, statusCode, durationMs, response } = await createCallbackSender(deps, plain)(entry, 1);
  // An answer counts only in a 2xx.
  const refusal =
    outcome.kind !== 'delivered'
      ? outcome.reason
      : answersChallenge(response ?? '', challenge)
        ? null
        : 'Its response is neither the challenge nor a JSON object with it as "challenge".';
  return { refusal, outcome, statusCode, durationMs };
}

// The text itself, or a JSON object with it as `challenge`, as receivers of Slack's events answer.
function answersChallenge(body: string, challenge: string): boolean {
  const text = body.trim();
  const answer = orNull(() => JSON.parse(text) as { readonly challenge?: unknown } | null);
  return text === challenge || answer?.challenge === challenge;
}

/**
 * Maximum number of challenges a minute, over all processes: of one account, and to one host. An account
 * alone does not use up those to a host, which others need as well.
 */
export const questionsMax = { perAccount: 60, perHost: 240 } as const;

/**
 * Takes one challenge of an account to a host; returns the milliseconds until there is one, 0 when it is
 * taken. One that the host refuses is taken from the account. Rejects when Redis does.
 */
export type TakeTurn = (account: string, host: string) => Promise<number>;

/** Counts challenges in Redis, each kept for a minute. */
export function createChallengeTurns(redis: RedisClient, keys: Pick<Keys, 'proofs'>): TakeTurn {
  const takeOf = (points: number) => {
    const limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: '', points, duration: 60 });
    return (key: string) =>
      limiter.consume(key).then(
        () => 0,
        (refused: unknown) => {
          if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
          throw refused;
        },
      );
  };
  const [ofAccount, ofHost] = [takeOf(questionsMax.perAccount), takeOf(questionsMax.perHost)];
  return async (account, host) =>
    (await ofAccount(keys.proofs('account', account))) || ofHost(keys.proofs('host', host));
}
