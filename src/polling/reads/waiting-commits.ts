import type { FilingCommit } from '../../filings/detection/decide-commit.ts';
import type { Step } from '../../filings/observe-filings.ts';
import { createdAtOf } from '../../partner/filing-schema.ts';

/** A commit that waits. */
export interface WaitingCommit {
  readonly commit: FilingCommit;
  /** The filing's own `createdAt` in milliseconds; NaN if its document gives none. */
  readonly createdAt: number;
}

/** The commits of a poll that wait for its end, at most one of a filing and 8 MiB of events. */
export type WaitingCommits = ReturnType<typeof createWaitingCommits>;

// Maximum characters of the events that wait. The next poll finds the rest again.
const waitingMax = 8 * 1024 * 1024;
// Number of characters that a commit without a large event takes.
const commitLength = 1_024;

/** No commits yet. */
export function createWaitingCommits() {
  const waiting = new Map<string, WaitingCommit>();
  let length = 0;

  function remove(id: string): FilingCommit | undefined {
    const commit = waiting.get(id)?.commit;
    if (commit === undefined) return undefined;
    waiting.delete(id);
    length -= lengthOf(commit);
    return commit;
  }

  return {
    /** False, with nothing kept, when there is no room. */
    add({ observation: { filing }, commit }: Step): boolean {
      const more = lengthOf(commit);
      if (length + more > waitingMax) return false;
      waiting.set(commit.id, { commit, createdAt: createdAtOf(filing) });
      length += more;
      return true;
    },
    get: (id: string): FilingCommit | undefined => waiting.get(id)?.commit,
    /** Removes the commit of a filing and returns it; undefined when none waits. */
    remove,
    /** Removes the commits that `isWanted` names and returns them, in the order in which they came. */
    take(isWanted: (commit: FilingCommit) => boolean): readonly WaitingCommit[] {
      const wanted = [...waiting.values()].filter(({ commit }) => isWanted(commit));
      for (const { commit } of wanted) remove(commit.id);
      return wanted;
    },
  };
}

/** Whether a commit is of a filing never seen before. */
export function isBirth({ previous }: FilingCommit): boolean {
  return previous === null;
}

function lengthOf({ event }: FilingCommit): number {
  return commitLength + (event?.body.length ?? 0);
}
