import { asksForProof, showVerification, verifiedSchema } from '../../subscriptions/options/verification.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { callMs, keepOpen } from '../server/bounded-server.ts';
import { requireSubscription, requireVerified, wakeSoon } from '../subscriptions/find.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';
import { callFields, responseText } from './attempts.ts';
import { notFound, Problem } from '../shared/problem.ts';
import { conflict, described, operation, stringOrNull } from '../shared/schema.ts';

/** The test call, and the question whether an endpoint wants the callbacks. */
export function addCallRoutes(app: Api, deps: ApiDeps): void {
  const { hooks, subscriptions } = deps;
  // Ids of subscriptions by the call that is under way to their endpoints.
  const [underTest, asked] = [new Set<string>(), new Set<string>()];

  app.post('/subscriptions/:id/test', testSubscription, async (request) => {
    const { account, id } = request.params;
    const { subscription, unreadable } = await requireSubscription(deps, account, id);
    if (unreadable !== null) throw unreadable;
    requireVerified(subscription);
    if (underTest.has(id))
      throw testRunning('A test of this subscription is under way; wait for its answer.');
    keepOpen(request.raw.socket);
    const sent = await onceAtATime(underTest, id, () => hooks.ping(subscription));
    const { outcome: found, statusCode, durationMs, response } = sent;
    const isDelivered = found.kind === 'delivered';
    if (isDelivered) await resumeFailing(deps, subscription, request.log);
    const reason = isDelivered ? null : found.reason;
    return { outcome: found.code, reason, statusCode, durationMs, response };
  });

  app.post('/subscriptions/:id/verify', verifySubscription, async (request) => {
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
    if (now === null) throw notFound('subscription_not_found');
    if (refusal === null) await hooks.wake(account);
    const { verified } = showVerification(now.subscription);
    return { verified, outcome: outcome.code, reason: refusal, statusCode, durationMs };
  });
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

/** Response of POST …/test. */
export const pingAnswerSchema = described('The outcome of the ping.', {
  ...callFields,
  reason: stringOrNull('A sentence about a failure; null if it was delivered.'),
  response: responseText,
});

const testSubscription = operation({
  config: { dear: 'calls' },
  handlerTimeout: callMs,
  operationId: 'testSubscription',
  summary: 'Send one ping now and return its outcome',
  description:
    'Works for disabled subscriptions too. It is in the list of attempts and counts as no failure and no success; if it is delivered, what waits for a failing endpoint is tried at once, as by POST …/resume. An endpoint that has yet to be verified gets none.',
  params: subscriptionParams,
  response: { 200: pingAnswerSchema, 409: conflict },
});

const verifySubscription = operation({
  config: { dear: 'calls' },
  handlerTimeout: callMs,
  operationId: 'verifySubscription',
  summary: 'Ask the endpoint now whether it wants the callbacks',
  description:
    'As `verification` of the subscription says. Once the endpoint agrees, events that wait are delivered. Works for disabled subscriptions too and does not enable them. An endpoint that was verified stays so, whatever it answers.',
  params: subscriptionParams,
  response: {
    200: described('The verification of the endpoint, and the outcome of the question.', {
      ...callFields,
      verified: verifiedSchema,
      reason: stringOrNull('Why the endpoint is not verified; null if it is.'),
    }),
    409: conflict,
  },
});
