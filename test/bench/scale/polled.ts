import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf, type Stage, type StageDaemon } from './stage.ts';

/** An interval so short that polls are most of what a daemon does. */
export const quickPollMs = 1_000;

const seconds = 10;

/** What polls of a stage's accounts cost while nothing changes. */
export interface PollCost {
  readonly polls: number;
  readonly daemonMs: number;
  readonly redisMs: number;
}

/** Measures milliseconds of processor time a poll, for ten seconds. */
export async function costOfPolls(stage: Stage, daemon: StageDaemon): Promise<PollCost> {
  const polled = () => daemon.metric('filing_webhooks_poll_duration_seconds_count');
  const before = await polled();
  const used = await cpuOf({ daemon: daemon.pid, redis: stage.redis.pid }, () => sleep(seconds * 1_000));
  const polls = (await polled()) - before;
  return { polls, daemonMs: (used.daemon * 1_000) / polls, redisMs: (used.redis * 1_000) / polls };
}
