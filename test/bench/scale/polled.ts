import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, type Stage, type StageDaemon } from './stage.ts';

/** An interval so short that polls are most of what a daemon does. */
export const quickPollMs = 1_000;

const seconds = 10;

/**
 * Milliseconds of processor time a second while nothing changes: polls, and what a daemon does without them.
 */
export interface PollCost {
  readonly daemonMs: number;
  readonly redisMs: number;
}

/** Measures it for ten seconds. */
export async function costOfPolls(stage: Stage, daemon: StageDaemon): Promise<PollCost> {
  const used = await cpuOf({ daemon: daemon.pid, redis: stage.redis.pid }, () => sleep(seconds * 1_000));
  return { daemonMs: (used.daemon * 1_000) / used.seconds, redisMs: (used.redis * 1_000) / used.seconds };
}
