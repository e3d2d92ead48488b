import { logBeginning, type Checkpoint } from '../../events/timeline.ts';
import { unindexedStatuses } from '../../partner/filing-statuses.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import type { CommitJournal } from './commit-journal.ts';
import { commitArguments, inBatches, toResult } from './filing-commit.ts';
import type { CommitResult } from './filing-commit.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';
import { createRejectionNotes } from '../rejecting/rejecting-index.ts';

/**
 * The snapshot was emptied or its account removed while another process worked on it. That process's
 * knowledge of the snapshot is void.
 */
export class SnapshotLostError extends Error {
  override readonly name = 'SnapshotLostError';

  constructor(account: string) {
    super(`the snapshot of account ${account} is gone or was begun anew`);
  }
}

/** Writes commits to the snapshot and the log, each script atomic, and notes them in the journal. */
export interface CommitWriter {
  /**
   * Writes one batch. Null, with nothing written, when the log is not the one from which `known` was taken.
   * Rejects with SnapshotLostError, with nothing written, when the snapshot is of another generation.
   */
  write(
    account: string,
    generation: string,
    batch: readonly FilingCommit[],
    at: number,
    known: Checkpoint,
  ): Promise<CommitResult[] | null>;
  /** Writes commits without a check of the log; returns the number written. Rejects as `write`. */
  writeAnyway(
    account: string,
    generation: string,
    commits: readonly FilingCommit[],
    at: number,
  ): Promise<number>;
}

/** A writer over commit-changes.lua. */
export function createCommitWriter(redis: RedisClient, keys: Keys, journal: CommitJournal): CommitWriter {
  const script = committing(loadScript(new URL('commit-changes.lua', import.meta.url)));
  const announceRejections = createRejectionNotes(redis, keys);

  const write: CommitWriter['write'] = async (account, generation, batch, at, known) => {
    const key = keys.account(account);
    const events = batch.filter(({ event }) => event !== null);
    await announceRejections(account, batch);
    if (events.length > 0) await journal.announce({ account, generation, commits: events });
    const reply = (await script.run(
      redis,
      [
        key.filings,
        key.index,
        key.details,
        key.counts,
        key.head,
        key.events,
        key.bodies,
        key.filingEvents,
        key.polling,
        key.newest,
      ],
      [
        generation,
        known.position,
        known.timeline,
        unindexedStatuses.join('\n'),
        ...batch.flatMap((commit) => commitArguments(commit, at)),
      ],
    )) as [number[], number, string] | 0 | null;
    if (reply === null) throw new SnapshotLostError(account);
    if (reply === 0) return null;
    const [positions, position, timeline] = reply;
    const recorded = batch.filter((_, i) => (positions[i] ?? 0) > 0);
    const head = { position, timeline };
    // Even where nothing was written: what was announced is decided now.
    if (events.length > 0) await journal.note({ account, generation, head, at, commits: recorded });
    return positions.map(toResult);
  };

  return {
    write,
    async writeAnyway(account, generation, commits, at) {
      let written = 0;
      for (const batch of inBatches(commits)) {
        const results = await write(account, generation, batch, at, logBeginning);
        written += (results ?? []).filter(({ kind }) => kind === 'written').length;
      }
      return written;
    },
  };
}
