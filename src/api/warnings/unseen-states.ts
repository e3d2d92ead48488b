import type { LogEntry } from '../../events/log-entry.ts';
import type { ListedFiling } from '../../filings/filing-list-store.ts';

/** The recent events and the filings at hand of an account: enough to know the states that it deals with. */
export interface Seen {
  readonly events: readonly Pick<LogEntry, 'state'>[];
  readonly filings: readonly Pick<ListedFiling, 'details'>[];
}

/** The states of an account's recent events and filings in upper case, sorted; pure. */
export function statesOf({ events, filings }: Seen): string[] {
  const states = [
    ...events.map(({ state }) => state),
    ...filings.map(({ details }) => details?.stateAbbr ?? ''),
  ];
  return [...new Set(states.filter((state) => state !== '').map((state) => state.toUpperCase()))].toSorted();
}

// Maximum number of states that a warning lists.
const listedMax = 60;

/**
 * One warning for each state that a subscription wants and that none of the account's recent events and
 * filings has; pure. There is none for an account of which no state is known.
 */
export function unseenStates(wanted: readonly string[] | null, seen: readonly string[]): string[] {
  if (wanted === null || seen.length === 0) return [];
  const known = seen.slice(0, listedMax).join(', ');
  return wanted
    .filter((state) => !seen.includes(state.toUpperCase()))
    .map(
      (state) =>
        `No filing that is open or rejected, and none of the latest events, has the state ${state}. Seen: ${known}`,
    );
}
