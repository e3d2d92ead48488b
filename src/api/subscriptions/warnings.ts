import { filingStatuses } from '../../partner/filing-statuses.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { ApiDeps } from '../deps.ts';

// Maximum number of events and of filings that are looked through for states, and of states that a warning
// lists.
const eventsMax = 500;
const filingsMax = 400;
const listedMax = 60;
const indexed = filingStatuses.filter((each) => each.indexed).map(({ status }) => status);

/**
 * Warnings about settings that are permitted and that the operator or the subscriber probably did not mean:
 * one for each state that a subscription wants and that none of the account's recent events and filings has.
 * There is none for an account of which no state is known. A record that cannot be read gives no warning: the
 * subscription is stored already.
 */
export async function readWarnings(
  { log, filings }: Pick<ApiDeps, 'log' | 'filings'>,
  { account, states }: Pick<Subscription, 'account' | 'states'>,
): Promise<string[]> {
  if (states === null) return [];
  try {
    const { position } = await log.head(account);
    const events = await log.outlineBefore(account, position + 1, eventsMax);
    const found = await filings.walk(
      indexed.map((status) => ({ account, status })),
      { order: 'newest', after: null, limit: filingsMax },
    );
    const ofFilings = found.filings.map(({ details }) => details?.stateAbbr ?? '');
    const all = [...events.map(({ state }) => state), ...ofFilings].filter((state) => state !== '');
    return unseenStates(states, [...new Set(all.map((state) => state.toUpperCase()))].toSorted());
  } catch {
    return [];
  }
}

function unseenStates(wanted: readonly string[], seen: readonly string[]): string[] {
  if (seen.length === 0) return [];
  const known = seen.slice(0, listedMax).join(', ');
  return wanted
    .filter((state) => !seen.includes(state.toUpperCase()))
    .map(
      (state) =>
        `No filing that is open or rejected, and none of the latest events, has the state ${state}. Seen: ${known}`,
    );
}
