import type { FastifyRequest } from 'fastify';
import { loggedEventTypes } from '../../events/event-types.ts';
import { isAboutReceivers, matchesType, type Wishes } from '../../subscriptions/matches-event.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { tokenOf } from './auth.ts';
import { type PathIds, subscriptionIn } from './path-ids.ts';
import { invalidRequest, notFound } from '../shared/problem.ts';

/** The id of the token whose subscriptions are the only ones that the caller may see; null = all. */
export function ownerOf(request: FastifyRequest): string | null {
  const token = tokenOf(request);
  return token?.subscriptions === 'own' ? token.id : null;
}

/**
 * Refuses paths with a subscription that another token made, as if it did not exist; also those with a replay
 * or an attempt of one. Runs after the checks of account and ids, and before the body is read.
 */
export function addOwnCheck(app: Api, { subscriptions }: Pick<ApiDeps, 'subscriptions'>): void {
  app.addHook('onRequest', async (request) => {
    const owner = ownerOf(request);
    if (owner === null || request.routeOptions.config.refusesMethod === true) return;
    const ids = request.params as PathIds;
    const id = subscriptionIn(request.routeOptions.url ?? '', ids);
    if (id === null || (await subscriptions.isMadeBy(ids.account ?? '', id, owner))) return;
    if (ids.attempt !== undefined) throw notFound('attempt_not_found');
    throw ids.replay === undefined ? notFound('subscription_not_found') : notFound('replay_not_found');
  });
}

/** Refuses a query that names a subscription the caller may not see. */
export async function requireOwn(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  request: FastifyRequest,
  account: string,
  id: string,
): Promise<void> {
  const owner = ownerOf(request);
  if (owner !== null && !(await subscriptions.isMadeBy(account, id, owner)))
    throw notFound('subscription_not_found');
}

/**
 * The types of events that the caller may see of those that it asks for; null = all. Events about
 * subscriptions name the endpoints of all of them, so a token with its own sees none.
 */
export function typesSeen(
  request: FastifyRequest,
  types: readonly string[] | null,
): readonly string[] | null {
  if (ownerOf(request) === null) return types;
  return loggedEventTypes.filter(
    (type) => !isAboutReceivers(type) && (types === null || types.some((asked) => matchesType(asked, type))),
  );
}

/** Whether the caller may see events of this type. */
export function seesType(request: FastifyRequest, type: string): boolean {
  return ownerOf(request) === null || !isAboutReceivers(type);
}

/** Refuses event types of which a confined subscription would never get an event. */
export function requireSeenTypes({ eventTypes, confined }: Wishes): void {
  if (confined !== true) return;
  const errors = eventTypes.flatMap((pattern, i) => {
    const logged = loggedEventTypes.filter((type) => matchesType(pattern, type));
    return logged.length > 0 && logged.every(isAboutReceivers)
      ? [{ path: `eventTypes.${i}`, message: unseen }]
      : [];
  });
  if (errors.length > 0) throw invalidRequest(errors);
}

const unseen =
  'is about the subscriptions of all tokens: leave it out, or register a subscription with a token that was made without "subscriptions": "own"';
