import type { ListedDeadLetter } from '../store/delivery-records.ts';
import type { Journal, Listed } from '../store/journal.ts';
import type { Replay } from './replay.ts';

export interface LettersDeps {
  readonly journal: Pick<Journal, 'list'>;
}

// Number of dead letters that are read at a time.
const lettersAtOnce = 400;

/**
 * The dead letters of a subscription, the latest first, page by page: only those written after the one whose
 * id is `after`, if given.
 */
export async function* eachPageOfLetters(
  { journal }: LettersDeps,
  account: string,
  subscription: string,
  after?: string,
): AsyncGenerator<readonly ListedDeadLetter[], void, undefined> {
  let before: string | null = null;
  do {
    // Each page continues from the previous one.
    const page: Listed<ListedDeadLetter> = await journal.list(
      account,
      subscription,
      'dead',
      before,
      lettersAtOnce,
      after,
    );
    yield page.items;
    before = page.next;
  } while (before !== null);
}

/**
 * The letters of a subscription between two positions of the log: they leave the list when a replay has
 * delivered their events. Nothing is read before it is needed.
 */
export function createLetters(
  deps: LettersDeps,
  account: string,
  subscription: string,
  { first, last }: Pick<Replay, 'first' | 'last'>,
) {
  const ids = new Map<number, string>();
  let newest: string | undefined;
  let finding: Promise<void> | null = null;

  async function findNewer(): Promise<void> {
    let newer: string | undefined;
    for await (const page of eachPageOfLetters(deps, account, subscription, newest)) {
      newer ??= page[0]?.id;
      for (const { id, position } of page) if (position >= first && position <= last) ids.set(position, id);
    }
    newest = newer ?? newest;
  }

  return {
    /** Resolves once `at` knows all letters that were written before `lookAgain` was last called. */
    find: () => (finding ??= findNewer()),
    /** Newer letters may matter from now on. */
    lookAgain: () => void (finding = null),
    /** Id of the letter of the event at this position; undefined when there is none. */
    at: (position: number) => ids.get(position),
  };
}
