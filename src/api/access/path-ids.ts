import { accountNamePattern } from '../../accounts/account.ts';
import type { Api } from '../deps.ts';
import {
  attemptNotFound,
  eventNotFound,
  noAccountName,
  replayNotFound,
  subscriptionNotFound,
  tokenNotFound,
  type Problem,
} from '../shared/problem.ts';

const accountName = new RegExp(accountNamePattern);
const subscriptionId = /^sub_[0-9A-Za-z]{1,64}$/;
const tokenId = /^tok_[0-9A-Za-z]{1,64}$/;
const attemptId = /^att_\d{1,15}-\d{1,15}\.sub_[0-9A-Za-z]{1,64}$/;
const eventId = /^evt_[0-9A-Za-z]{1,64}$/;
const replayId = /^rpl_[0-9A-Za-z]{1,64}\.sub_[0-9A-Za-z]{1,64}$/;

/** The parameters of a path that become parts of keys. */
export interface PathIds {
  readonly account?: string;
  readonly id?: string;
  readonly replay?: string;
  readonly attempt?: string;
  readonly event?: string;
}

/**
 * The refusal of a path with an id or name that nothing can have, as if it did not exist; null for others;
 * pure. `route` is the path with its parameters as Fastify writes them. The ids of filings are the partner
 * service's: they may be any text, and are part of no key.
 */
export function refusedIds(route: string, { account, id, replay, attempt, event }: PathIds): Problem | null {
  if (account !== undefined && !accountName.test(account)) return noAccountName();
  const [form, notFound] = route.includes('/tokens/')
    ? [tokenId, tokenNotFound]
    : [subscriptionId, subscriptionNotFound];
  if (id !== undefined && !form.test(id)) return notFound();
  if (attempt !== undefined && !attemptId.test(attempt)) return attemptNotFound();
  if (event !== undefined && !eventId.test(event)) return eventNotFound();
  return replay !== undefined && !replayId.test(replay) ? replayNotFound() : null;
}

/** Whether a path leads to subscriptions of an account, or to what is of one of them; pure. */
export function isOfSubscriptions(route: string): boolean {
  return /^\/v1\/accounts\/:account\/(?:subscriptions|replays)(?:\/|$)/.test(route);
}

/**
 * The id of the subscription that a path speaks of, from its form alone; null where it speaks of none; pure.
 */
export function subscriptionIn(route: string, { id, replay, attempt }: PathIds): string | null {
  if (id !== undefined) return isOfSubscriptions(route) ? id : null;
  return (replay ?? attempt)?.split('.', 2)[1] ?? null;
}

/** Refuses such paths before any key is made of them; runs after `addAuth`. */
export function addIdCheck(app: Api): void {
  app.addHook('onRequest', async ({ params, routeOptions: { url = '', config }, method }) => {
    // The name of a new account is a value of its request, with an error that says what a name may be.
    if (config.refusesMethod === true || method === 'PUT') return;
    const refused = refusedIds(url, params as PathIds);
    if (refused !== null) throw refused;
  });
}
