import type { Subscription } from '../../subscriptions/subscription.ts';
import { filingStatuses } from '../../partner/filing-statuses.ts';
import type { ApiDeps } from '../deps.ts';
import { statesOf, unseenStates } from './unseen-states.ts';

// Maximum number of events, and of filings in each status, that are looked through for states.
const eventsMax = 500;
const filingsMax = 100;
const listed = filingStatuses.filter(({ indexed }) => indexed).map(({ status }) => status);

/**
 * Warnings about settings that are permitted and that the operator or the subscriber probably did not mean.
 * A record that cannot be read gives no warning: the subscription is stored already.
 */
export async function readWarnings(
  { log, filings }: Pick<ApiDeps, 'log' | 'filings'>,
  { account, states }: Pick<Subscription, 'account' | 'states'>,
): Promise<string[]> {
  if (states === null) return [];
  try {
    const { position } = await log.head(account);
    const events = await log.outlineBefore(account, position + 1, eventsMax);
    const pages = await Promise.all(listed.map((status) => filings.list(account, status, null, filingsMax)));
    const seen = statesOf({ events, filings: pages.flatMap((page) => page.filings) });
    return unseenStates(states, seen);
  } catch {
    return [];
  }
}
