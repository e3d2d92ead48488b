import type { EventLog, OutlinedEntry } from '../../events/event-log.ts';
import { isSameCheckpoint, mayFollow, type Checkpoint } from '../../events/timeline.ts';
import type { Matchable } from '../../subscriptions/matches-event.ts';

/**
 * The kinds of the events after a checkpoint and up to the head, each once. Null where they are not known for
 * certain: the checkpoint is not of the head's timeline or has none, an entry between them is gone, or there
 * are more than two thousand.
 */
export type KindsAfter = (checkpoint: Checkpoint) => Promise<readonly Matchable[] | null>;

// Maximum number of entries that are read back from the head.
const entriesMax = 2_000;
// Maximum number of entries of one command: about a millisecond.
const entriesAtOnce = 500;

/**
 * Reads the kinds of the newest events of an account, back from a head that its log has or had; each entry
 * once. Entries are believed that the timeline of the head proves to be those before it, whatever is written
 * meanwhile and wherever Redis is set back.
 */
export function createNewestKinds(
  log: Pick<EventLog, 'outlineBefore'>,
  account: string,
  head: Checkpoint,
): KindsAfter {
  // Back from the head, without a gap.
  const trail: (Checkpoint & { readonly id: string })[] = [];
  // By their names, with their newest positions: the newest first.
  const kinds = new Map<string, Matchable & { readonly position: number }>();
  let hasEnded = head.timeline === '';

  async function readBack(count: number): Promise<void> {
    while (trail.length < count && !hasEnded) {
      const before = head.position - trail.length + 1;
      const wanted = Math.min(entriesAtOnce, count - trail.length);
      const entries = await log.outlineBefore(account, before, wanted);
      hasEnded = entries.length < wanted;
      for (const entry of entries) {
        if (!isNext(entry)) {
          hasEnded = true;
          return;
        }
        note(entry);
      }
    }
  }

  function isNext(entry: OutlinedEntry): boolean {
    const newer = trail.at(-1);
    if (newer === undefined) return isSameCheckpoint(entry, head);
    return entry.timeline !== '' && entry.position + 1 === newer.position && mayFollow(entry, newer);
  }

  function note({ id, position, timeline, type, state, status }: OutlinedEntry): void {
    trail.push({ id, position, timeline });
    const name = `${type}\0${state}\0${status}`;
    if (!kinds.has(name)) kinds.set(name, { type, state, status, position });
  }

  return async (checkpoint) => {
    const count = head.position - checkpoint.position;
    if (checkpoint.timeline === '' || count < 1 || count > entriesMax) return null;
    await readBack(count);
    const { [count - 1]: first } = trail;
    if (first === undefined || !mayFollow(checkpoint, first)) return null;
    return [...kinds.values()].filter(({ position }) => position > checkpoint.position);
  };
}
