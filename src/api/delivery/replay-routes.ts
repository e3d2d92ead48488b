import type { ReplayRequest } from '../../delivery/replay/replay.ts';
import type { ReplayProgress } from '../../delivery/replay/replay-progress.ts';
import type { Static } from 'typebox';
import type { Api } from '../server/api-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { instantMs } from '../../json/instant.ts';
import { replayNotFound } from '../shared/not-found.ts';
import { invalidRequest } from '../shared/problem.ts';
import { pageLimit } from '../shared/schema.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { seesType } from '../tokens/own-subscriptions.ts';
import { countReplay, replaySearchMs, startReplay } from '../subscriptions/start-replay.ts';
import {
  cancelReplay,
  cancelSubscriptionReplay,
  getReplay,
  getSubscriptionReplay,
  listReplays,
  replayEvents,
  type replayInputSchema,
} from './replay-schema.ts';

/** The routes that deliver events again. */
export function addReplayRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/accounts/:account/subscriptions/:id/replay',
    {
      config: { bodyOptional: true, dear: 'scans' },
      handlerTimeout: replaySearchMs,
      schema: replayEvents,
    },
    async (caller, reply) => {
      const { params, query, body } = caller;
      const { account, id } = params;
      const request = toRequest(body);
      const isSeen = (type: string) => seesType(caller, type);
      if (query.dryRun === 'true') {
        void reply.code(200);
        return { matched: await countReplay(deps, account, id, request, isSeen) };
      }
      const started = await startReplay(deps, account, id, request, isSeen);
      const replay = replayId(started.id, id);
      void reply
        .code(202)
        .header('location', `/v1/accounts/${account}/subscriptions/${id}/replays/${replay}`);
      return { id: replay, matched: started.matched };
    },
  );

  app.get(
    '/accounts/:account/subscriptions/:id/replays',
    { schema: listReplays },
    async ({ method, params: { account, id }, query: { limit = pageLimit, cursor } }, reply) => {
      const last = decodeCursor('replays', cursor);
      await requireSubscription(deps, account, id);
      if (method === 'HEAD') return headersOnly(reply);
      const kept = await deps.hooks.replayList(account, id);
      // At the end of the list if the last one is forgotten meanwhile: those behind it are older.
      const from = last === null ? 0 : kept.findIndex((replay) => replay.id === last) + 1;
      const page = last !== null && from === 0 ? [] : kept.slice(from, from + limit);
      const hasMore = page.length > 0 && from + page.length < kept.length;
      return {
        items: page.map((replay) => replayView(replay, id)),
        nextCursor: hasMore ? encodeCursor('replays', page.at(-1)?.id ?? '') : null,
      };
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

  app.delete(
    '/accounts/:account/subscriptions/:id/replays/:replay',
    { schema: cancelSubscriptionReplay },
    async ({ params: { account, id, replay } }, reply) => {
      if (splitReplayId(replay).subscription !== id) throw replayNotFound();
      await cancel(deps, account, replay);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/accounts/:account/replays/:replay',
    { schema: cancelReplay },
    async ({ params: { account, replay } }, reply) => {
      await cancel(deps, account, replay);
      return reply.code(204).send(null);
    },
  );
}

function toRequest(body: Static<typeof replayInputSchema>): ReplayRequest {
  const { eventTypes = null, filingId = null, deadLettersOnly = false, eventIds } = body;
  const [after, before] = [instantMs(body.after), instantMs(body.before)];
  if (after !== null && before !== null && after >= before)
    throw invalidRequest([{ path: 'before', message: 'must be later than after' }]);
  if (eventIds !== undefined && deadLettersOnly)
    throw invalidRequest([
      { path: 'eventIds', message: 'name the events already; leave deadLettersOnly out' },
    ]);
  return {
    after,
    before,
    eventTypes,
    filingId,
    deadLettersOnly,
    ...(eventIds === undefined ? {} : { eventIds }),
  };
}

async function progress(deps: ApiDeps, account: string, replay: string) {
  const { subscription, id } = splitReplayId(replay);
  const found =
    (await deps.subscriptions.get(account, subscription)) === null
      ? null
      : await deps.hooks.replayProgress(account, subscription, id);
  if (found === null) throw replayNotFound();
  return replayView(found, subscription);
}

async function cancel({ subscriptions, hooks }: ApiDeps, account: string, replay: string): Promise<void> {
  const { subscription, id } = splitReplayId(replay);
  const isKnown =
    (await subscriptions.get(account, subscription)) !== null &&
    (await hooks.replayCancel(account, subscription, id));
  if (!isKnown) throw replayNotFound();
}

function replayView(found: ReplayProgress, subscription: string) {
  const { state, matched, delivered, failed, createdAt, request, source } = found;
  return {
    id: replayId(found.id, subscription),
    state,
    matched,
    delivered,
    failed,
    createdAt: new Date(createdAt).toISOString(),
    conditions: {
      after: timeShown(request.after),
      before: timeShown(request.before),
      eventTypes: request.eventTypes === null ? null : [...request.eventTypes],
      filingId: request.filingId,
      deadLettersOnly: request.deadLettersOnly,
      eventIds: request.eventIds === undefined ? null : [...request.eventIds],
      fromState: source === 'filings',
    },
  };
}

// The start of 1970 is a condition as any other time.
function timeShown(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

// The id contains the subscription's, so a replay can be found below the account as well.
function replayId(id: string, subscription: string): string {
  return `${id}.${subscription}`;
}

function splitReplayId(replay: string): { id: string; subscription: string } {
  const [id = '', subscription = ''] = replay.split('.', 2);
  return { id, subscription };
}
