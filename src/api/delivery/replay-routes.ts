import type { Api } from '../server/api-instance.ts';
import { replayEvents, getSubscriptionReplay, getReplay } from './operations.ts';
import type { ApiDeps } from '../deps.ts';
import { instantMs } from '../shared/instant.ts';
import { replayNotFound } from '../shared/not-found.ts';
import { invalidRequest } from '../shared/problem.ts';
import { replaySearchMs, startReplay } from '../subscriptions/start-replay.ts';

/** The routes that deliver events again. */
export function addReplayRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/accounts/:account/subscriptions/:id/replay',
    {
      config: { bodyOptional: true, dear: 'scans' },
      handlerTimeout: replaySearchMs,
      schema: replayEvents,
    },
    async ({ params: { account, id }, body }, reply) => {
      const after = instantMs(body.after);
      const before = instantMs(body.before);
      if (after !== null && before !== null && after >= before) {
        throw invalidRequest([{ path: 'before', message: 'must be later than after' }]);
      }
      const started = await startReplay(deps, account, id, {
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

// The id contains the subscription's, so a replay can be found below the account as well.
function splitReplayId(replay: string): { id: string; subscription: string } {
  const [id = '', subscription = ''] = replay.split('.', 2);
  return { id, subscription };
}
