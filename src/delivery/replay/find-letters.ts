import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import type { ListedDeadLetter } from '../store/delivery-records.ts';
import type { DeliveryStore, Listed } from '../store/delivery-store.ts';
import type { LettersAmong } from './replay.ts';
import type { Selection } from './select-range.ts';

export interface LettersDeps {
  readonly delivery: Pick<DeliveryStore, 'deadLetters'>;
  readonly log: Pick<EventLog, 'outlineAt'>;
}

/** Maximum number of dead letters in one replay, the oldest; the others are left to another one. */
export const lettersMax = 10_000;
const pageSize = 100;
// The id before that of any letter.
const noLetter = '0-0';

/** A dead letter with its event; null where the log does not have it any more. */
interface LetterOfEvent {
  readonly letter: ListedDeadLetter;
  readonly entry: OutlinedEntry | null;
}

/**
 * The dead letters of a subscription, the latest first, page by page; only those written after the one whose
 * id is `after`, if given. Rejects when Redis does.
 */
export async function* eachPageOfLetters(
  { delivery, log }: LettersDeps,
  account: string,
  id: string,
  after?: string,
): AsyncGenerator<readonly LetterOfEvent[], void, undefined> {
  let before: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: Listed<ListedDeadLetter> = await delivery.deadLetters(account, id, before, pageSize, after);
    const entries = await log.outlineAt(
      account,
      page.items.map(({ position }) => position),
    );
    yield page.items.map((letter, i) => {
      const { [i]: entry = null } = entries;
      return { letter, entry: entry?.id === letter.eventId ? entry : null };
    });
    before = page.next;
  } while (before !== null);
}

/**
 * The dead letters among the events of a replay that is not one of dead letters: those of the newest
 * `lettersMax` of the list, and only those written after the one whose id is `after`, if given. Null for a
 * replay of dead letters and one without events.
 */
export async function findLettersAmong(
  deps: LettersDeps,
  account: string,
  id: string,
  { first, last, positions, letters }: Selection,
  after?: string,
): Promise<Required<LettersAmong> | null> {
  if (letters !== null || last < first) return null;
  const chosen = positions === null ? null : new Set(positions);
  const found = new Map<number, string>();
  let newest: string | null = null;
  let pages = 0;
  for await (const page of eachPageOfLetters(deps, account, id, after)) {
    newest ??= page[0]?.letter.id ?? null;
    for (const { letter, entry } of page) {
      const { position } = letter;
      const isAmong = chosen?.has(position) ?? (position >= first && position <= last);
      if (entry !== null && isAmong) found.set(position, letter.id);
    }
    pages += 1;
    if (found.size === chosen?.size || pages * pageSize >= lettersMax) break;
  }
  const sorted = [...found].toSorted(([a], [b]) => a - b);
  return {
    positions: sorted.map(([position]) => position),
    letters: sorted.map(([, letter]) => letter),
    newest: newest ?? after ?? noLetter,
  };
}
