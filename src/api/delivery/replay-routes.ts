import type { ReplayRequest } from '../../delivery/replay/replay.ts';
import type { ReplayProgress } from '../../delivery/replay/replay.ts';
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

  // A replay is found below its account as well as below its subscription.
  const below = '/accounts/:account/subscriptions/:id/replays/:replay';
  const alone = '/accounts/:account/replays/:replay';
  app.get(below, { schema: getSubscriptionReplay }, async ({ params }) => progress(deps, params));
  app.get(alone, { schema: getReplay }, async ({ params }) => progress(deps, params));
  app.delete(below, { schema: cancelSubscriptionReplay }, async ({ params }, reply) => {
    await cancel(deps, params);
    return reply.code(204).send(null);
  });
  app.delete(alone, { schema: cancelReplay }, async ({ params }, reply) => {
    await cancel(deps, params);
    return reply.code(204).send(null);
  });
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

interface ReplayParams {
  readonly account: string;
  /** The subscription in the path, which has to be that of the replay; missing below the account. */
  readonly id?: string;
  readonly replay: string;
}

async function progress(deps: ApiDeps, params: ReplayParams) {
  const { subscription, id } = await splitReplay(deps, params);
  const found = await deps.hooks.replayProgress(params.account, subscription, id);
  if (found === null) throw replayNotFound();
  return replayView(found, subscription);
}

async function cancel(deps: ApiDeps, params: ReplayParams): Promise<void> {
  const { subscription, id } = await splitReplay(deps, params);
  if (!(await deps.hooks.replayCancel(params.account, subscription, id))) throw replayNotFound();
}

// The parts of a replay's id; throws the problem 404 where there is no such subscription.
async function splitReplay({ subscriptions }: ApiDeps, { account, id: expected, replay }: ReplayParams) {
  const [id = '', subscription = ''] = replay.split('.', 2);
  if (expected !== undefined && expected !== subscription) throw replayNotFound();
  if ((await subscriptions.get(account, subscription)) === null) throw replayNotFound();
  return { id, subscription };
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
