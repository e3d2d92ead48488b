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

/** A dead letter with its event. */
interface LetterOfEvent {
  readonly letter: ListedDeadLetter;
  readonly entry: OutlinedEntry;
}

/**
 * The dead letters of a subscription whose event is in the log, the latest first, page by page. Rejects when
 * Redis does.
 */
export async function* eachPageOfLetters(
  { delivery, log }: LettersDeps,
  account: string,
  id: string,
): AsyncGenerator<readonly LetterOfEvent[], void, undefined> {
  let before: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: Listed<ListedDeadLetter> = await delivery.deadLetters(account, id, before, pageSize);
    const entries = await log.outlineAt(
      account,
      page.items.map(({ position }) => position),
    );
    yield page.items.flatMap((letter, i) => {
      const { [i]: entry } = entries;
      return entry != null && entry.id === letter.eventId ? [{ letter, entry }] : [];
    });
    before = page.next;
  } while (before !== null);
}

/**
 * The dead letters among the events of a replay that is not one of dead letters: those of the newest
 * `lettersMax` of the list. Null for none.
 */
export async function findLettersAmong(
  deps: LettersDeps,
  account: string,
  id: string,
  { first, last, positions, letters }: Selection,
): Promise<LettersAmong | null> {
  if (letters !== null || last < first) return null;
  const chosen = positions === null ? null : new Set(positions);
  const found = new Map<number, string>();
  let pages = 0;
  for await (const page of eachPageOfLetters(deps, account, id)) {
    for (const { letter } of page) {
      const { position } = letter;
      if (chosen?.has(position) ?? (position >= first && position <= last)) found.set(position, letter.id);
    }
    pages += 1;
    if (found.size === chosen?.size || pages * pageSize >= lettersMax) break;
  }
  if (found.size === 0) return null;
  const sorted = [...found].toSorted(([a], [b]) => a - b);
  return { positions: sorted.map(([position]) => position), letters: sorted.map(([, letter]) => letter) };
}
