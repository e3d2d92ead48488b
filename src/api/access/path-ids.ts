import { accountNamePattern } from '../../accounts/account.ts';
import type { Api } from '../deps.ts';
import { accountNameWords } from '../shared/patterns.ts';
import { notFound, Problem } from '../shared/problem.ts';

/** The parameters of a path that become parts of keys. */
export interface PathIds {
  readonly account?: string;
  readonly id?: string;
  readonly replay?: string;
  readonly attempt?: string;
  readonly event?: string;
}

const accountName = new RegExp(accountNamePattern);
const forms = [
  ['attempt', /^att_\d{1,15}-\d{1,15}\.sub_[0-9A-Za-z]{1,64}$/, 'attempt_not_found'],
  ['event', /^evt_[0-9A-Za-z]{1,64}$/, 'event_not_found'],
  ['replay', /^rpl_[0-9A-Za-z]{1,64}\.sub_[0-9A-Za-z]{1,64}$/, 'replay_not_found'],
] as const;
const subscriptionForm = ['id', /^sub_[0-9A-Za-z]{1,64}$/, 'subscription_not_found'] as const;
const tokenForm = ['id', /^tok_[0-9A-Za-z]{1,64}$/, 'token_not_found'] as const;

/**
 * The refusal of a path with an id or name that nothing can have, as if it did not exist; null for others;
 * pure. `route` is the path with its parameters as Fastify writes them. The ids of filings are the partner
 * service's: they may be any text, and are part of no key.
 */
export function refusedIds(route: string, ids: PathIds): Problem | null {
  if (ids.account !== undefined && !accountName.test(ids.account))
    return new Problem('account_not_found', `No account has such a name: it is ${accountNameWords}.`);
  const ofId = route.includes('/tokens/') ? tokenForm : subscriptionForm;
  for (const [name, form, code] of [ofId, ...forms])
    if (ids[name] !== undefined && !form.test(ids[name])) return notFound(code);
  return null;
}

/** Whether a path leads to subscriptions of an account, or to what is of one of them; pure. */
export function isOfSubscriptions(route: string): boolean {
  return /^\/v1\/accounts\/:account\/(?:subscriptions|replays)(?:\/|$)/.test(route);
}

/** The id of the subscription that a path names, judged by its form alone; null if it names none; pure. */
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
