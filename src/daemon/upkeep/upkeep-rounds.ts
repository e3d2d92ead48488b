import { listenForCommits } from '../../filings/commit/commit-journal.ts';
import { unlessLost } from '../../filings/commit/commit-writer.ts';
import type { Config } from '../../config/config.ts';
import { clockStepMsMin, synchroniseEveryMs } from '../../redis/clock.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { Parts } from '../parts.ts';
import { createAccountLooks } from './account-looks.ts';
import { createAccountRounds } from './account-rounds.ts';
import { createDigests } from './digests.ts';
import { clocksContradict } from './retention.ts';

/** Upkeep that does not depend on events. */
export interface UpkeepRound {
  readonly name: string;
  readonly everyMs: number;
  /** Whether it is done at the start, too. */
  readonly atOnce?: boolean;
  readonly run: () => Promise<unknown>;
}

// Milliseconds for which a commit is checked again: no replica lags longer. The next poll of this process
// finds older commits that were lost.
const caughtUpMs = 60_000;

/** All upkeep of a process with these parts, and what processes with the role `poll` do for all. */
export async function upkeepRounds(config: Config, parts: Parts): Promise<readonly UpkeepRound[]> {
  const { secrets, rewriter } = parts;
  const rounds: UpkeepRound[] = [
    { name: 'store', everyMs: 2_000, run: watchStore(parts) },
    { name: 'append-only file', everyMs: 2_000, run: rewriter.look },
    { name: 'clock', everyMs: synchroniseEveryMs, atOnce: true, run: watchClock(parts) },
    { name: 'secrets', everyMs: 60_000, atOnce: true, run: secrets.pass },
  ];
  if (!config.roles.has('poll')) return rounds;
  const listen = await listenForCommits(parts.connections.listening(), parts.keys, parts.journal);
  const maintain = createAccountLooks({
    ...config,
    ...parts,
    ...parts.stores,
    retention: () => parts.retentionAt(parts.clock.now()),
  });
  const digest = createDigests({
    ...parts,
    ...parts.stores,
    isClockRight: () => !clocksContradict(parts.retentionAt(parts.clock.now())),
    now: parts.clock.now,
  });
  const lookAtAccounts = createAccountRounds({
    ...parts,
    ...parts.stores,
    async maintain(account) {
      await maintain(account.account);
      await digest(account);
    },
    now: parts.clock.now,
  });
  return [
    ...rounds,
    { name: 'accounts', everyMs: 3_000, run: lookAtAccounts },
    { name: 'commits of others', everyMs: 5_000, run: listen },
    { name: 'lost commits', everyMs: 5_000, run: () => restoreLost(parts) },
  ];
}

/** Runs each of these in its time, never twice at once; returns the function that ends it. */
export function runUpkeep(rounds: readonly UpkeepRound[], onError: (error: Error) => void): () => void {
  const timers = rounds.map(({ everyMs, atOnce = false, run }) => {
    let underWay = false;
    const look = () => {
      if (underWay) return;
      underWay = true;
      run()
        .catch(onError)
        .finally(() => (underWay = false));
    };
    if (atOnce) look();
    return setInterval(look, everyMs);
  });
  return () => timers.forEach((timer) => clearInterval(timer));
}

// Reports a store that was emptied, once, and whether due work is taken.
function watchStore({ watch, work, logger }: Parts): () => Promise<void> {
  let told = false;
  return async () => {
    await watch.check();
    const problem = watch.problem();
    if (problem !== null && !told) logger.fatal({ problem }, 'store.emptied');
    told = problem !== null;
    await work.look();
  };
}

// Synchronises with Redis's clock, and logs when the process's own clock and Redis's begin or cease to
// differ, or differ by so much that nothing old is removed.
function watchClock({ clock, retentionAt, logger }: Parts): () => Promise<void> {
  let differed = false;
  let waited = false;
  return async () => {
    await clock.synchronise();
    const facts = retentionAt(clock.now());
    const redisAheadMs = facts.now - facts.wallNow;
    const differs = Math.abs(redisAheadMs) >= clockStepMsMin;
    const waits = clocksContradict(facts);
    if (differs && !differed) logger.warn({ redisAheadMs }, 'clock.differs');
    if (!differs && differed) logger.info('clock.agrees');
    if (waits && !waited) logger.warn({ redisAheadMs }, 'retention.waits');
    [differed, waited] = [differs, waits];
  };
}

// Restores own commits that Redis has lost, even if another process polls the account.
async function restoreLost({ stores: { snapshot, polling }, clock }: Parts): Promise<void> {
  for (const account of snapshot.committedSince(clock.now() - caughtUpMs)) {
    await unlessUnreadable(async () => {
      const { generation } = await polling.read(account);
      await unlessLost(snapshot.catchUp(account, generation, clock.now()));
    });
  }
}
