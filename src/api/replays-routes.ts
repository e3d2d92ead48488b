import type { ReplayRequest } from '../delivery/replay.ts';
import { ReplayRefusedError } from '../delivery/replayer.ts';
import type { Api } from './api-instance.ts';
import { replayEvents, getSubscriptionReplay, getReplay } from './delivery-operations.ts';
import type { ApiDeps } from './deps.ts';
import { requireSubscription, subscriptionNotFound } from './find-subscription.ts';
import { instantMs } from './instant.ts';
import { invalidRequest, Problem } from './problem.ts';

// Finding what to deliver again reads through the log, as far as half a million events.
const searchMs = 60_000;

/** Delivering events again. */
export function addReplayRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/accounts/:account/subscriptions/:id/replay',
    {
      config: { bodyOptional: true },
      handlerTimeout: searchMs,
      schema: replayEvents,
    },
    async ({ params: { account, id }, body }, reply) => {
      const after = instantMs(body.after);
      const before = instantMs(body.before);
      if (after !== null && before !== null && after >= before) {
        throw invalidRequest([{ path: 'before', message: 'must be later than after' }]);
      }
      const started = await start(deps, account, id, {
        after,
        before,
        eventTypes: body.eventTypes ?? null,
        filingId: body.filingId ?? null,
        deadLettersOnly: body.deadLettersOnly ?? false,
      });
      const replay = `${started.id}.${id}`;
      void reply
        .code(202)
        .header('location', `/v1/accounts/${account}/subscriptions/${id}/replays/${replay}`);
      return { id: replay, matched: started.matched };
    },
  );

  app.get(
    '/accounts/:account/subscriptions/:id/replays/:replay',
    { schema: getSubscriptionReplay },
    async ({ params: { account, id, replay } }) => {
      if (splitReplayId(replay).subscription !== id) throw replayNotFound();
      return progress(deps, account, replay);
    },
  );

  app.get(
    '/accounts/:account/replays/:replay',
    { schema: getReplay },
    async ({ params: { account, replay } }) => progress(deps, account, replay),
  );
}

async function start(deps: ApiDeps, account: string, id: string, request: ReplayRequest) {
  await requireSubscription(deps, account, id);
  try {
    return await deps.hooks.replay(account, id, request);
  } catch (error) {
    if (!(error instanceof ReplayRefusedError)) throw error;
    throw error.reason === 'too_many' ? tooManyReplays() : subscriptionNotFound();
  }
}

async function progress(deps: ApiDeps, account: string, replay: string) {
  const { subscription, id } = splitReplayId(replay);
  const found =
    (await deps.subscriptions.get(account, subscription)) === null
      ? null
      : await deps.hooks.replayProgress(account, subscription, id);
  if (found === null) throw replayNotFound();
  const { state, matched, delivered, failed, createdAt } = found;
  return { id: replay, state, matched, delivered, failed, createdAt: new Date(createdAt).toISOString() };
}

// The id names the subscription, so that a replay is found below the account as well.
function splitReplayId(replay: string): { id: string; subscription: string } {
  const [id = '', subscription = ''] = replay.split('.', 2);
  return { id, subscription };
}

function tooManyReplays(): Problem {
  const detail = 'Wait until a replay of this subscription has finished.';
  return new Problem('too_many_replays', detail, { headers: { 'retry-after': '60' } });
}

function replayNotFound(): Problem {
  return new Problem(
    'replay_not_found',
    'POST …/replay answers the id; its subscription must still be there.',
  );
}
