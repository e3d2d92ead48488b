import { asksForProof, isUnverified, showVerification } from '../../subscriptions/options/verification.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { ApiDeps } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { subscriptionNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { verifySubscription } from './schema.ts';
import { callMs, keepOpen } from '../server/bounded-server.ts';

/** The route that asks an endpoint whether it wants the callbacks. */
export function addVerifyRoute(app: Api, deps: ApiDeps): void {
  const { hooks, subscriptions } = deps;
  const underWay = new Set<string>();

  app.post(
    '/accounts/:account/subscriptions/:id/verify',
    {
      config: { dear: 'calls' },
      handlerTimeout: callMs,
      schema: verifySubscription,
    },
    async (request) => {
      const { account, id } = request.params;
      const { subscription, unreadable, text } = await requireSubscription(deps, account, id);
      if (unreadable !== null) throw unreadable;
      if (!asksForProof(subscription)) throw nothingToVerify();
      if (underWay.has(id)) throw tooOften(1_000);
      underWay.add(id);
      try {
        keepOpen(request.raw.socket);
        const result = await hooks.verify(text, subscription);
        if (result.kind === 'too_many') throw tooOften(result.inMs);
        if (result.kind === 'changed') throw changedMeanwhile();
        const { refusal, outcome, statusCode, durationMs } = result.asked;
        const now = await subscriptions.get(account, id);
        if (now === null) throw subscriptionNotFound();
        if (refusal === null) await hooks.wake(account, id);
        return {
          verified: showVerification(now.subscription).verified,
          outcome: outcome.code,
          reason: refusal,
          statusCode,
          durationMs,
        };
      } finally {
        underWay.delete(id);
      }
    },
  );
}

/** Refuses a test call while nothing may be sent. */
export function requireVerified(subscription: Subscription): void {
  if (!isUnverified(subscription)) return;
  throw new Problem(
    'subscription_unverified',
    'Nothing is sent to this endpoint before it is verified: POST …/verify asks it now.',
  );
}

function nothingToVerify(): Problem {
  return new Problem('nothing_to_verify', 'PATCH the subscription with "verification": "challenge" first.');
}

function changedMeanwhile(): Problem {
  return new Problem('test_running', 'The subscription was changed meanwhile: ask again.', {
    headers: { 'retry-after': '1' },
  });
}

function tooOften(inMs: number): Problem {
  return new Problem(
    'too_many_requests',
    'An account asks 60 endpoints a minute, and a host is asked 240 times: wait as long as Retry-After says.',
    { headers: { 'retry-after': String(Math.ceil(inMs / 1_000)) } },
  );
}
