import type { DeadLetter } from '../../delivery/store/delivery-records.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Api } from '../server/api-instance.ts';
import { pageLimit } from '../shared/schema.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import type { CursorKind } from '../shared/cursor.ts';
import { listDeadLetters, testSubscription } from './schema.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { wakeSoon } from '../subscriptions/routes.ts';
import { callMs, keepOpen } from '../server/bounded-server.ts';
import { Problem } from '../shared/problem.ts';
import { requireVerified } from './verify-route.ts';

/** The routes for dead letters, and the test call. */
export function addDeliveryRoutes(app: Api, deps: ApiDeps): void {
  const { delivery, hooks } = deps;
  const underTest = new Set<string>();

  app.get(
    '/accounts/:account/subscriptions/:id/dead-letters',
    { schema: listDeadLetters },
    async ({ method, params: { account, id }, query: { limit = pageLimit, cursor } }, reply) => {
      const before = decodeCursor('dead-letters', cursor);
      await requireSubscription(deps, account, id);
      if (method === 'HEAD') return headersOnly(reply);
      const { items, next } = await delivery.deadLetters(account, id, before, limit);
      return { items: items.map(deadLetterView), nextCursor: nextCursor('dead-letters', next) };
    },
  );

  app.post(
    '/accounts/:account/subscriptions/:id/test',
    {
      config: { dear: 'calls' },
      handlerTimeout: callMs,
      schema: testSubscription,
    },
    async (request) => {
      const { account, id } = request.params;
      const { subscription, unreadable } = await requireSubscription(deps, account, id);
      if (unreadable !== null) throw unreadable;
      requireVerified(subscription);
      if (underTest.has(id)) throw testRunning();
      underTest.add(id);
      try {
        keepOpen(request.raw.socket);
        const { outcome, statusCode, durationMs, response } = await hooks.ping(subscription);
        if (outcome.kind === 'delivered') await resumeFailing(deps, subscription, request.log);
        const reason = outcome.kind === 'delivered' ? null : outcome.reason;
        return { outcome: outcome.code, reason, statusCode, durationMs, response };
      } finally {
        underTest.delete(id);
      }
    },
  );
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

function nextCursor(kind: CursorKind, next: string | null): string | null {
  return next === null ? null : encodeCursor(kind, next);
}

function testRunning(): Problem {
  const headers = { 'retry-after': '1' };
  return new Problem('test_running', 'A test of this subscription is under way; wait for its answer.', {
    headers,
  });
}
