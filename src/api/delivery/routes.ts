import type { DeadLetter } from '../../delivery/store/delivery-records.ts';
import { asksForProof, showVerification } from '../../subscriptions/options/verification.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { pageLimit } from '../shared/schema.ts';
import { headersOnly, decodeCursor, encodeCursor } from '../shared/paging.ts';
import { listDeadLetters, testSubscription, verifySubscription } from './schema.ts';
import { requireSubscription, requireVerified } from '../subscriptions/find.ts';
import { wakeSoon } from '../subscriptions/routes.ts';
import { callMs, keepOpen } from '../server/bounded-server.ts';
import { subscriptionNotFound, Problem } from '../shared/problem.ts';

/** The routes for dead letters, the test call, and the question whether an endpoint wants the callbacks. */
export function addDeliveryRoutes(app: Api, deps: ApiDeps): void {
  const { delivery, hooks, subscriptions } = deps;
  // Ids of subscriptions by the call that is under way to their endpoints.
  const [underTest, asked] = [new Set<string>(), new Set<string>()];

  app.get(
    '/accounts/:account/subscriptions/:id/dead-letters',
    { schema: listDeadLetters },
    async ({ method, params: { account, id }, query: { limit = pageLimit, cursor } }, reply) => {
      const before = decodeCursor('dead-letters', cursor);
      await requireSubscription(deps, account, id);
      if (method === 'HEAD') return headersOnly(reply);
      const { items, next } = await delivery.deadLetters(account, id, before, limit);
      return {
        items: items.map(deadLetterView),
        nextCursor: next === null ? null : encodeCursor('dead-letters', next),
      };
    },
  );

  app.post(
    '/accounts/:account/subscriptions/:id/test',
    { config: { dear: 'calls' }, handlerTimeout: callMs, schema: testSubscription },
    async (request) => {
      const { account, id } = request.params;
      const { subscription, unreadable } = await requireSubscription(deps, account, id);
      if (unreadable !== null) throw unreadable;
      requireVerified(subscription);
      if (underTest.has(id))
        throw testRunning('A test of this subscription is under way; wait for its answer.');
      keepOpen(request.raw.socket);
      const sent = await onceAtATime(underTest, id, () => hooks.ping(subscription));
      const { outcome, statusCode, durationMs, response } = sent;
      if (outcome.kind === 'delivered') await resumeFailing(deps, subscription, request.log);
      const reason = outcome.kind === 'delivered' ? null : outcome.reason;
      return { outcome: outcome.code, reason, statusCode, durationMs, response };
    },
  );

  app.post(
    '/accounts/:account/subscriptions/:id/verify',
    { config: { dear: 'calls' }, handlerTimeout: callMs, schema: verifySubscription },
    async (request) => {
      const { account, id } = request.params;
      const { subscription, unreadable, text } = await requireSubscription(deps, account, id);
      if (unreadable !== null) throw unreadable;
      if (!asksForProof(subscription))
        throw new Problem(
          'nothing_to_verify',
          'PATCH the subscription with "verification": "challenge" first.',
        );
      if (asked.has(id)) throw tooOften(1_000);
      keepOpen(request.raw.socket);
      const result = await onceAtATime(asked, id, () => hooks.verify(text, subscription));
      if (result.kind === 'too_many') throw tooOften(result.inMs);
      if (result.kind === 'changed') throw testRunning('The subscription was changed meanwhile: ask again.');
      const { refusal, outcome, statusCode, durationMs } = result.asked;
      const now = await subscriptions.get(account, id);
      if (now === null) throw subscriptionNotFound();
      if (refusal === null) await hooks.wake(account, id);
      const { verified } = showVerification(now.subscription);
      return { verified, outcome: outcome.code, reason: refusal, statusCode, durationMs };
    },
  );
}

async function onceAtATime<T>(underWay: Set<string>, id: string, call: () => Promise<T>): Promise<T> {
  underWay.add(id);
  try {
    return await call();
  } finally {
    underWay.delete(id);
  }
}

// An endpoint that takes a test is back: what waits for the end of its pause is tried now.
async function resumeFailing(
  deps: ApiDeps,
  { account, id }: Subscription,
  logger: Parameters<typeof wakeSoon>[2],
): Promise<void> {
  const found = await deps.subscriptions.get(account, id);
  if (found === null || !found.delivery.enabled) return;
  if (found.delivery.failures === 0 && found.delivery.pausedUntil === 0) return;
  await deps.subscriptions.update(account, id, ({ subscription }) => ({ subscription, release: true }));
  await wakeSoon(deps, found.subscription, logger);
}

function deadLetterView({ eventId, eventType, filingId, attempts, lastOutcome, events, at }: DeadLetter) {
  return {
    eventId,
    eventType,
    filingId: filingId === '' ? null : filingId,
    attempts,
    lastOutcome,
    events,
    at: new Date(at).toISOString(),
  };
}

function testRunning(detail: string): Problem {
  return new Problem('test_running', detail, { headers: { 'retry-after': '1' } });
}

function tooOften(inMs: number): Problem {
  return new Problem(
    'too_many_requests',
    'An account asks 60 endpoints a minute, and a host is asked 240 times: wait as long as Retry-After says.',
    { headers: { 'retry-after': String(Math.ceil(inMs / 1_000)) } },
  );
}
