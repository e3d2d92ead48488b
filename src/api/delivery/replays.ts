import { type Static, Type } from 'typebox';
import {
  type ReplayProgress,
  ReplayRefusedError,
  type ReplayRequest,
  replaysKept,
  requestOfAll,
} from '../../delivery/replay/replay.ts';
import { instantSchema } from '../../json/instant.ts';
import { seesType } from '../access/own-subscriptions.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { eventTypesSchema, subscriptionParams } from '../subscriptions/schema.ts';
import * as s from '../shared/schema.ts';
import { sendPage } from '../shared/paging.ts';
import { eventIdPattern } from '../shared/patterns.ts';
import { invalidRequest, invalidValue, notFound, Problem } from '../shared/problem.ts';

/** The routes that deliver events again. */
export function addReplayRoutes(app: Api, deps: ApiDeps): void {
  const { replayer } = deps;
  app.post('/subscriptions/:id/replay', replayEvents, async (caller, reply) => {
    const { account, id } = caller.params;
    const request = toRequest(caller.body);
    const asked = [account, id, request, (type: string) => seesType(caller, type)] as const;
    await requireSubscription(deps, account, id);
    if (caller.query.dryRun === 'true') {
      void reply.code(200);
      return { matched: await orProblem(replayer.count(...asked), request) };
    }
    const started = await orProblem(replayer.start(...asked), request);
    const replay = replayId(started.id, id);
    void reply.code(202).header('location', `/v1/accounts/${account}/subscriptions/${id}/replays/${replay}`);
    return { id: replay, matched: started.matched };
  });

  app.get('/subscriptions/:id/replays', listReplays, async (request, reply) => {
    const { account, id } = request.params;
    await requireSubscription(deps, account, id);
    return sendPage(request, reply, 'replays', async (last, limit) => {
      const kept = await replayer.list(account, id);
      // At the end of the list if the last one is forgotten meanwhile: those behind it are older.
      const from = last === null ? 0 : kept.findIndex((replay) => replay.id === last) + 1;
      const page = last !== null && from === 0 ? [] : kept.slice(from, from + limit);
      const hasMore = page.length > 0 && from + page.length < kept.length;
      return {
        items: page.map((replay) => replayView(replay, id)),
        next: hasMore ? (page.at(-1)?.id ?? null) : null,
      };
    });
  });

  // A replay is found below its account as well as below its subscription.
  for (const [path, name, params] of [
    ['/subscriptions/:id', 'SubscriptionReplay', subscriptionReplayParams],
    ['', 'Replay', replayParams],
  ] as const) {
    const progress = s.operation({ ...getReplay, operationId: `get${name}`, params });
    app.get(`${path}/replays/:replay`, progress, async (request) => {
      const [account, subscription, id] = await splitReplay(deps, request.params);
      const found = await replayer.progress(account, subscription, id);
      if (found === null) throw notFound('replay_not_found');
      return replayView(found, subscription);
    });
    const cancelled = s.operation({ ...cancelReplay, operationId: `cancel${name}`, params });
    app.delete(`${path}/replays/:replay`, cancelled, async (request, reply) => {
      if (!(await replayer.cancel(...(await splitReplay(deps, request.params)))))
        throw notFound('replay_not_found');
      return reply.code(204).send(null);
    });
  }
}

function toRequest(body: Static<typeof replayInputSchema>): ReplayRequest {
  const { eventTypes = null, filingId = null, deadLettersOnly = false, eventIds } = body;
  const span = s.spanOf(body);
  if (eventIds !== undefined && deadLettersOnly)
    throw invalidValue('eventIds', 'name the events already; leave deadLettersOnly out');
  const named = eventIds === undefined ? {} : { eventIds };
  return { ...span, eventTypes, filingId, deadLettersOnly, ...named };
}

// `id` is the subscription in the path, if there is one; it must be that of the replay.
type ReplayParams = Static<typeof replayParams> & { readonly id?: string };

// The parts of a replay's id. Throws the problem 404 if there is no such subscription.
async function splitReplay({ subscriptions }: ApiDeps, { account, id: expected, replay }: ReplayParams) {
  const [id = '', subscription = ''] = replay.split('.', 2);
  if (expected !== undefined && expected !== subscription) throw notFound('replay_not_found');
  if ((await subscriptions.get(account, subscription)) === null) throw notFound('replay_not_found');
  return [account, subscription, id] as const;
}

function replayView(found: ReplayProgress, subscription: string) {
  const { request, source } = found;
  return s.show(replaySchema, {
    ...found,
    id: replayId(found.id, subscription),
    conditions: {
      ...request,
      after: timeShown(request.after),
      before: timeShown(request.before),
      eventIds: request.eventIds ?? null,
      fromState: source === 'filings',
    },
  });
}

// The start of 1970 is a condition as any other time.
function timeShown(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Id of a replay in the API; it contains the subscription's, so that the account finds it as well. */
export function replayId(id: string, subscription: string): string {
  return `${id}.${subscription}`;
}

/** Milliseconds that the start of a replay may take: it searches up to half a million events of the log. */
export const replaySearchMs = 60_000;

/**
 * The result of a replayer. Throws the Problem if it refuses the request; the default request has no
 * conditions.
 */
export async function orProblem<T>(result: Promise<T>, request = requestOfAll): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof ReplayRefusedError ? problemOf(error, request) : error;
  }
}

function problemOf({ reason, eventIds: ids }: ReplayRefusedError, request: ReplayRequest): Problem {
  if (reason === 'no_subscription') return notFound('subscription_not_found');
  if (reason === 'too_many') {
    const detail = 'Wait until a replay of this subscription has finished.';
    return new Problem('too_many_replays', detail, { headers: { 'retry-after': '60' } });
  }
  const { eventIds = [], filingId } = request;
  const unknown =
    filingId === null ? 'no event in the log of this account' : 'no event of the filing in filingId';
  const text = {
    unknown_events: unknown,
    log_too_long: 'not among the newest half a million events; give filingId with the filing of the events',
  }[reason];
  return invalidRequest(
    ids.map((id) => ({ path: `eventIds.${eventIds.indexOf(id)}`, message: `${id} is ${text}` })),
  );
}

/** Body of POST …/replay. */
const replayInputSchema = s.record(
  s.optional({
    after: instantSchema(
      'Events recorded at this time or later; one is recorded a moment after its `timestamp`.',
    ),
    before: instantSchema('Events recorded earlier than this time, which is later than `after`.'),
    eventTypes: eventTypesSchema,
    filingId: s.filingIdIn('Events of this filing.'),
    deadLettersOnly: Type.Boolean({ default: false, description: 'Only events that were given up.' }),
    eventIds: Type.Array(Type.String({ pattern: eventIdPattern }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description:
        'Only these events, by their `webhook-id`; each must be in the log. Not together with `deadLettersOnly`.',
      examples: [['evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f']],
    }),
  }),
);

/** Query of POST …/replay. */
const replayQuerySchema = s.record(
  s.optional({
    dryRun: s.oneOf(['true', 'false'], {
      default: 'false',
      description:
        '`true` starts nothing and answers 200 with the number of events that would be delivered again.',
    }),
  }),
);

/** Response of POST …/replay?dryRun=true. */
const replayCountSchema = s.shared('ReplayCount', {
  matched: s.integer('Number of events that would be delivered again, counted as for a replay.'),
});

const replay = {
  id: Type.String({ examples: ['rpl_7d21.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
  matched: s.integer(
    'Number of events that are delivered again. Exact up to half a million events of the log; later ones all count, whether or not they match.',
  ),
};

const noCondition = 'null for no such condition.';

/** Response of GET …/replays/{id}. */
export const replaySchema = s.shared('Replay', {
  ...replay,
  state: s.oneOf(['running', 'finished', 'cancelled'], {
    description: '`running` also while it waits for an earlier replay of the subscription.',
  }),
  delivered: s.integer('Acknowledged so far.'),
  failed: s.integer('Given up again.'),
  createdAt: s.time('When it was requested.'),
  conditions: s.record({
    after: s.timeOrNull(`Events recorded at this time or later; ${noCondition}`),
    before: s.timeOrNull(`Events recorded earlier than this time; ${noCondition}`),
    eventTypes: s.nullable(Type.Array(Type.String()), { description: `These types; ${noCondition}` }),
    filingId: s.stringOrNull(`Events of this filing; ${noCondition}`),
    deadLettersOnly: s.boolean('Only events that had been given up.'),
    eventIds: s.nullable(Type.Array(Type.String()), { description: `These events; ${noCondition}` }),
    fromState: s.boolean(
      'True for the snapshot of a subscription with `from: "state"`, which delivers filings, not events.',
    ),
  }),
});

/** Response of GET …/subscriptions/{id}/replays. */
const replayListSchema = s.listOf(
  replaySchema,
  'The latest 50 replays of the subscription, newest first; of more, the oldest that have ended are forgotten.',
);

/** Path of a replay under its account. */
const replayParams = Type.Object({
  ...s.accountParams,
  replay: s.string('Id of the replay.'),
});

/** Path of a replay under its subscription. */
const subscriptionReplayParams = Type.Object({
  ...replayParams.properties,
  id: s.string('Id of the subscription.'),
});

const getReplay = {
  summary: 'How far a replay has got',
  description: 'The counts follow the attempts of the replay. Fifty replays of a subscription are kept.',
  response: { 200: s.answer(replaySchema, 'The progress of the replay.') },
};

const cancelReplay = {
  summary: 'Cancel a replay',
  description:
    'Callbacks in flight may still arrive; nothing is sent for it after that. A replay that has ended stays as it is.',
  response: { 204: { type: 'null', description: 'It has ended.' } },
};

const replayEvents = s.operation({
  config: { bodyOptional: true, dear: 'scans' },
  handlerTimeout: replaySearchMs,
  operationId: 'replayEvents',
  summary: 'Deliver events again, under their own ids',
  description:
    'Without conditions everything still in the log that the subscription asks for is delivered again. The same request asked again ' +
    'before it has finished is the same replay, so it may be repeated when the answer was lost. Progress is under ' +
    `…/replays/{id}, below the subscription as well as below the account; of each subscription the latest ${replaysKept} are kept.`,
  params: subscriptionParams,
  querystring: replayQuerySchema,
  body: replayInputSchema,
  response: {
    200: s.answer(replayCountSchema, 'Only counted, with `dryRun=true`.'),
    202: s.answer(s.record(replay), 'Begun.', { location: 'Where its progress is.' }),
    409: s.conflict,
  },
});

const listReplays = s.operation({
  operationId: 'listReplays',
  summary: 'List replays, newest first',
  description: 'Running and ended ones.',
  params: subscriptionParams,
  querystring: s.record(s.pageQuery),
  response: { 200: replayListSchema },
});
