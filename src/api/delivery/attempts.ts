import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { outcomeKinds } from '../../callbacks/outcome.ts';
import type { AttemptRequest } from '../../delivery/attempts/attempt-detail.ts';
import type { AttemptFilter } from '../../delivery/attempts/attempt-list.ts';
import type { ListedAttempt } from '../../delivery/store/delivery-records.ts';
import { instantSchema } from '../../json/instant.ts';
import { maskedHeader } from '../../subscriptions/options/headers.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { seesReceivers } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import { ownerOf, requireOwn } from '../access/own-subscriptions.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { subscriptionParams } from '../subscriptions/schema.ts';
import * as s from '../shared/schema.ts';
import { type ListRequest, sendPage } from '../shared/paging.ts';
import { subscriptionIdPattern } from '../shared/patterns.ts';
import { notFound } from '../shared/problem.ts';

/** The routes that show attempts. */
export function addAttemptRoutes(app: Api, deps: ApiDeps): void {
  app.get('/subscriptions/:id/attempts', listAttempts, async (request, reply) => {
    const { account, id } = request.params;
    return sendAttempts(deps, request, reply, account, filterOf({ ...request.query, subscription: id }));
  });

  app.get('/attempts', listAccountAttempts, async (request, reply) =>
    sendAttempts(deps, request, reply, request.params.account, filterOf(request.query)),
  );

  app.get('/attempts/:attempt', getAttempt, async (request) => {
    const { account, attempt: name } = request.params;
    const [id = '', subscription = ''] = name.replace(/^att_/, '').split('.', 2);
    const known = await deps.subscriptions.get(account, subscription);
    const detail = known === null ? null : await deps.readAttempt(account, subscription, id);
    if (detail === null) throw notFound('attempt_not_found');
    const isSeeing = seesReceivers(request);
    const view = (each: ListedAttempt) => attemptView(each, subscription, isSeeing);
    const { attempt, request: sent } = detail;
    const isKept = typeof sent !== 'string';
    return {
      ...view(attempt),
      request: isKept ? requestView(attempt, sent, isSeeing) : null,
      requestMissing: isKept ? null : missing[sent],
      responseHeaders: isSeeing ? (attempt.headers ?? null) : null,
      earlier: detail.earlier.map(view),
      later: detail.later.map(view),
    };
  });
}

async function sendAttempts(
  deps: ApiDeps,
  request: FastifyRequest & ListRequest,
  reply: FastifyReply,
  account: string,
  filter: AttemptFilter,
) {
  const { subscription } = filter;
  if (subscription !== null) {
    await requireOwn(deps, request, account, subscription);
    await requireSubscription(deps, account, subscription);
  }
  return sendPage(request, reply, 'attempts', async (after, limit) => {
    const owner = ownerOf(request);
    const among = owner === null ? null : await deps.subscriptions.idsMadeBy(account, owner);
    const { items, next } = await deps.attempts.list(account, { ...filter, among }, after, limit);
    const isSeeing = seesReceivers(request);
    return { items: items.map((each) => attemptView(each, each.subscription, isSeeing)), next };
  });
}

function filterOf(query: Static<typeof listAccountAttempts.schema.querystring>): AttemptFilter {
  const { subscription = null, eventId = null, filingId = null, outcome: code = null } = query;
  return { subscription, eventId, filingId, outcome: code, ...s.spanOf(query) };
}

// A filter may pass over thousands of attempts for each one that it finds.
function kindOfList({ query }: FastifyRequest): Dear | null {
  const { limit: _, cursor: __, ...filter } = query as Record<string, unknown>;
  return Object.keys(filter).length > 0 ? 'scans' : null;
}

/** The id of an attempt: it contains the subscription's, so an attempt can be found below the account. */
export function attemptId(id: string, subscription: string): string {
  return `att_${id}.${subscription}`;
}

/** An attempt as lists show it; without the response for those who may not see receivers; pure. */
function attemptView(attempt: ListedAttempt, subscription: string, isSeeing: boolean) {
  return s.show(attemptSchema, {
    ...attempt,
    id: attemptId(attempt.id, subscription),
    subscription,
    filingId: attempt.filingId || null,
    response: isSeeing ? attempt.response : null,
    reason: attempt.reason ?? null,
    replay: attempt.replay === null ? null : `${attempt.replay}.${subscription}`,
  });
}

const missing = {
  not_kept: 'The request was not kept: DELIVERY_ATTEMPT_DETAILS is none, or nothing could be sent.',
  event_trimmed: 'The event is older than EVENT_RETENTION_MS and no longer in the log.',
} as const;

// Without secrets, and for those who watch also without what gives access to the receiver.
function requestView(
  { eventId, attempt }: ListedAttempt,
  { url, contentType, timestamp, signature, names, traceparent, body }: AttemptRequest,
  isSeeing: boolean,
) {
  const signed = {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': isSeeing ? signature : maskedHeader,
    'webhook-attempt': String(attempt),
  };
  const headers = {
    ...Object.fromEntries(names.map((name) => [name, maskedHeader])),
    'content-type': contentType,
    ...(signature === '' ? {} : signed),
    ...(traceparent === null ? {} : { traceparent }),
  };
  return { url: isSeeing ? url : hideUrlPath(url), headers, body };
}

const outcomes = Object.keys(outcomeKinds);
/** Codes of the last outcome of an event. */
export const lastOutcomes = [...outcomes, 'expired', 'unreadable'];

/** Outcome of an attempt. */
const outcome = s.oneOf(outcomes, {
  description: 'The outcome; docs/callback-outcomes.md says what each leads to.',
  examples: ['http_error'],
});

/** Status code of a response. */
const statusCode = s.integerOrNull('Null if there was no response.');

/** Duration of an attempt. */
const durationMs = Type.Number({
  description: 'Milliseconds from the first byte sent to the end of the response.',
});

/** The outcome of a call to an endpoint. */
export const callFields = { outcome, statusCode, durationMs };

/** The beginning of a response. */
export const responseText = s.stringOrNull(
  'The first 1 KiB of the response as text; null if there was none, and in lists for a read-only token: responses often repeat the path or the headers of the request.',
);

/** The event that a record is about. */
export const event = {
  eventId: s.string('The `webhook-id`.'),
  eventType: Type.String({ examples: ['filing.rejected'] }),
  filingId: s.stringOrNull('Null for operational events.'),
};

const attemptIdSchema = s.string('Id of the attempt.', {
  examples: ['att_1763719803120-0.sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'],
});

/** The id of a subscription. */
export const subscriptionId = s.string('Id of the subscription.', {
  examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'],
});

const attempt = {
  id: attemptIdSchema,
  subscription: subscriptionId,
  ...event,
  attempt: s.integer('1 for the first try of the event.'),
  ...callFields,
  response: responseText,
  reason: s.stringOrNull(
    'Why it failed and what to do, for `token_error`, `tls_error`, `proxy_refused` and `proxy_error`; 200 characters at most. Null otherwise.',
  ),
  at: s.time('When it ended.'),
  replay: s.stringOrNull('Id of the replay that it belongs to; null outside replays.'),
};

/** One attempt to deliver an event. */
export const attemptSchema = s.shared('Attempt', attempt);

const near = (side: string) =>
  s.arrayOf(attemptSchema, {
    description: `The nearest ${side} attempts of the same event for the same subscription, newest first; 20 at most.`,
  });

const request = s.nullable(
  s.record({
    url: s.string('As it was called; its origin alone for a read-only token.'),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'With the values of custom headers masked, and the signature for a read-only token. Without those that every HTTP client adds.',
    }),
    body: s.string(
      'Written once more from the event in the log, in the format that the subscription had then.',
    ),
  }),
  { description: 'The request as it was sent; null where `requestMissing` says why.' },
);

/** One attempt in full: GET …/attempts/{id}. */
export const attemptDetailSchema = s.shared('AttemptDetail', {
  ...attempt,
  request,
  requestMissing: s.stringOrNull('Why `request` is null; null where it is shown.'),
  responseHeaders: s.nullable(Type.Record(Type.String(), Type.String()), {
    description:
      'The first 20 headers, 2 KiB at most; null if there was no response or they were not kept (DELIVERY_ATTEMPT_DETAILS), and for a read-only token.',
  }),
  earlier: near('earlier'),
  later: near('later'),
});

/** Response of a list of attempts. */
const attemptList = s.listOf(
  attemptSchema,
  'Attempts, newest first; at least the latest 1 000 are kept. With filters a page may hold fewer than `limit`, or none, and still have a next one.',
);

const filters = s.optional({
  eventId: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Only attempts to deliver this event.',
  }),
  filingId: s.filingIdIn('Only those of events of this filing.'),
  outcome: s.oneOf(outcomes, { description: 'Only those with this outcome.', examples: ['http_error'] }),
  after: instantSchema('Only those that ended at this time or later.'),
  before: instantSchema('Only those that ended earlier than this time.'),
});

const listAttempts = s.operation({
  config: { dear: kindOfList },
  operationId: 'listAttempts',
  summary: 'List attempts to deliver, newest first',
  description: 'Test calls are among them. A read-only token sees them without responses.',
  params: subscriptionParams,
  querystring: s.record({ ...s.pageQuery, ...filters }),
  response: { 200: attemptList },
});

const listAccountAttempts = s.operation({
  config: { dear: 'scans' },
  operationId: 'listAccountAttempts',
  summary: 'List attempts of all subscriptions, newest first',
  description: 'Filters are combined.',
  params: s.inAccount,
  querystring: s.record(
    s.optional({
      ...s.pageQuery,
      subscription: Type.String({
        pattern: subscriptionIdPattern,
        description: 'Only those for this subscription.',
      }),
      ...filters,
    }),
  ),
  response: { 200: attemptList },
});

const getAttempt = s.operation({
  config: { dear: 'scans' },
  operationId: 'getAttempt',
  summary: 'Read an attempt with its request and its response',
  description:
    'The request is written once more from the event, as long as that is in the log. Values of custom headers are masked.',
  params: Type.Object({ ...s.accountParams, attempt: attemptIdSchema }),
  response: {
    200: s.answer(attemptDetailSchema, 'The attempt, and those of the same event for the same subscription.'),
  },
});
