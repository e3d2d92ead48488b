import { logBeginning } from '../../events/timeline.ts';
import type { FirstReplay } from '../../subscriptions/store/subscription-store.ts';
import type { DrainQueue } from '../drain-queue.ts';
import { newReplayState, replayText } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { ReplayRefusedError } from '../replay/start-replay.ts';
import { newSnapshot } from './snapshot-source.ts';

/** A snapshot as it is stored with the subscription that begins with it. */
export function firstSnapshot(known: number, now: number): FirstReplay {
  const replay = newSnapshot(known, now);
  return {
    id: replay.id,
    request: replayText(replay),
    replay: JSON.stringify(replay),
    state: JSON.stringify(newReplayState(replay)),
    filings: known,
  };
}

/** Begins to send a subscription the filings as they are. */
export interface Snapshotter {
  /**
   * Adds a snapshot behind the replays of the subscription; an unfinished one goes on instead. Returns its
   * id. Throws ReplayRefusedError and AccountQuotaError. A crash leaves it either added or not begun at all.
   */
  start(account: string, subscription: string): Promise<string>;
}

export interface SnapshotterDeps {
  readonly replays: Pick<ReplayStore, 'add'>;
  /** Number of filings of an account. */
  readonly known: (account: string) => Promise<number>;
  readonly queue: Pick<DrainQueue, 'wake'>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

/** Snapshots over the store of replays. */
export function createSnapshotter({ replays, known, queue, now }: SnapshotterDeps): Snapshotter {
  return {
    async start(account, subscription) {
      const snapshot = newSnapshot(await known(account), now());
      const added = await replays.add(account, subscription, snapshot, logBeginning);
      // A snapshot is of no log, so the log that Redis was set back to is as good as any.
      if (added.kind !== 'added')
        throw new ReplayRefusedError(added.kind === 'set_back' ? 'no_subscription' : added.kind);
      await queue.wake(account, [subscription]);
      return added.id;
    },
  };
}
