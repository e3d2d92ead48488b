import type { FastifyRequest } from 'fastify';
import type { AttemptDetail, AttemptRequest } from '../../delivery/attempts/attempt-detail.ts';
import type { AttemptFilter } from '../../delivery/attempts/attempt-list.ts';
import type { ListedAttempt } from '../../delivery/store/delivery-records.ts';
import { instantMs } from '../../json/instant.ts';
import { seesReceivers } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { decodeCursor, encodeCursor, headersOnly } from '../shared/paging.ts';
import { attemptNotFound, invalidRequest } from '../shared/problem.ts';
import { pageLimit } from '../shared/schema.ts';
import { requireSubscription } from '../subscriptions/find.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { maskedHeader } from '../../subscriptions/options/headers.ts';
import { ownerOf, requireOwn } from '../access/own-subscriptions.ts';
import { getAttempt, listAccountAttempts, listAttempts } from './schema.ts';

/** The routes that show attempts. */
export function addAttemptRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/accounts/:account/subscriptions/:id/attempts',
    { config: { dear: kindOfList }, schema: listAttempts },
    async (request, reply) => {
      const { account, id } = request.params;
      const { limit = pageLimit, cursor, ...query } = request.query;
      const position = decodeCursor('attempts', cursor);
      const filter = filterOf({ ...query, subscription: id });
      await requireSubscription(deps, account, id);
      if (request.method === 'HEAD') return headersOnly(reply);
      const { items, next } = await deps.attempts.list(account, filter, position, limit);
      // The cursor names the subscription only where several are listed.
      const [behind] = next?.split(' ') ?? [];
      return {
        items: items.map((each) => attemptView(each, id, seesReceivers(request))),
        nextCursor: behind === undefined ? null : encodeCursor('attempts', behind),
      };
    },
  );

  app.get(
    '/accounts/:account/attempts',
    { config: { dear: 'scans' }, schema: listAccountAttempts },
    async (request, reply) => {
      const { account } = request.params;
      const { limit = pageLimit, cursor, ...query } = request.query;
      const position = decodeCursor('account-attempts', cursor);
      const filter = filterOf(query);
      if (filter.subscription !== null) {
        await requireOwn(deps, request, account, filter.subscription);
        await requireSubscription(deps, account, filter.subscription);
      }
      if (request.method === 'HEAD') return headersOnly(reply);
      const owner = ownerOf(request);
      const among = owner === null ? null : await deps.subscriptions.idsMadeBy(account, owner);
      const { items, next } = await deps.attempts.list(account, { ...filter, among }, position, limit);
      return {
        items: items.map((each) => attemptView(each, each.subscription, seesReceivers(request))),
        nextCursor: next === null ? null : encodeCursor('account-attempts', next),
      };
    },
  );

  app.get(
    '/accounts/:account/attempts/:attempt',
    { config: { dear: 'scans' }, schema: getAttempt },
    async (request) => {
      const { account, attempt } = request.params;
      const { id, subscription } = splitAttemptId(attempt);
      const known = await deps.subscriptions.get(account, subscription);
      const detail = known === null ? null : await deps.readAttempt(account, subscription, id);
      if (detail === null) throw attemptNotFound();
      return attemptDetailView(detail, subscription, seesReceivers(request));
    },
  );
}

interface FilterQuery {
  readonly subscription?: string;
  readonly eventId?: string;
  readonly filingId?: string;
  readonly outcome?: string;
  readonly after?: string;
  readonly before?: string;
}

function filterOf({ subscription, eventId, filingId, outcome, ...query }: FilterQuery): AttemptFilter {
  const [after, before] = [instantMs(query.after), instantMs(query.before)];
  if (after !== null && before !== null && after >= before)
    throw invalidRequest([{ path: 'before', message: 'must be later than after' }]);
  return {
    subscription: subscription ?? null,
    eventId: eventId ?? null,
    filingId: filingId ?? null,
    outcome: outcome ?? null,
    after,
    before,
  };
}

// A filter may pass over thousands of attempts for each one that it finds.
function kindOfList({ method, query }: FastifyRequest): Dear | null {
  const { limit: _, cursor: __, ...filter } = query as Record<string, unknown>;
  return method !== 'HEAD' && Object.keys(filter).length > 0 ? 'scans' : null;
}

/** The id of an attempt: it contains the subscription's, so an attempt can be found below the account. */
export function attemptId(id: string, subscription: string): string {
  return `att_${id}.${subscription}`;
}

/** The parts of an attempt's id. */
function splitAttemptId(attempt: string): { id: string; subscription: string } {
  const [id = '', subscription = ''] = attempt.replace(/^att_/, '').split('.', 2);
  return { id, subscription };
}

/** An attempt as lists show it; without the response for those who may not see receivers; pure. */
function attemptView(attempt: ListedAttempt, subscription: string, isSeeing: boolean) {
  const { eventId, eventType, filingId, attempt: tries, outcome, statusCode, durationMs, response } = attempt;
  return {
    id: attemptId(attempt.id, subscription),
    subscription,
    eventId,
    eventType,
    filingId: filingId === '' ? null : filingId,
    attempt: tries,
    outcome,
    statusCode,
    durationMs,
    response: isSeeing ? response : null,
    reason: attempt.reason ?? null,
    at: new Date(attempt.at).toISOString(),
    replay: attempt.replay === null ? null : `${attempt.replay}.${subscription}`,
  };
}

const missing = {
  not_kept: 'The request was not kept: DELIVERY_ATTEMPT_DETAILS is none, or nothing could be sent.',
  event_trimmed: 'The event is older than EVENT_RETENTION_MS and no longer in the log.',
} as const;

/**
 * An attempt in full, without secrets; for those who watch also without what gives access to the receiver;
 * pure.
 */
function attemptDetailView(detail: AttemptDetail, subscription: string, isSeeing: boolean) {
  const { attempt, request } = detail;
  const view = (each: ListedAttempt) => attemptView(each, subscription, isSeeing);
  return {
    ...view(attempt),
    request: typeof request === 'string' ? null : requestView(attempt.eventId, request, isSeeing),
    requestMissing: typeof request === 'string' ? missing[request] : null,
    responseHeaders: isSeeing ? (attempt.headers ?? null) : null,
    earlier: detail.earlier.map(view),
    later: detail.later.map(view),
  };
}

function requestView(
  eventId: string,
  { url, contentType, timestamp, signature, names, body }: AttemptRequest,
  isSeeing: boolean,
) {
  const headers = {
    ...Object.fromEntries(names.map((name) => [name, maskedHeader])),
    'content-type': contentType,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': isSeeing ? signature : maskedHeader,
  };
  return { url: isSeeing ? url : hideUrlPath(url), headers, body };
}
