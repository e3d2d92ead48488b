import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../../support/daemon/process-usage.ts';
import { redisCommands, redisMicros } from '../support/processor-time.ts';
import { print } from '../support/statistics.ts';
import type { Stage, StageDaemon } from './stage.ts';

/** What some work has cost. Load by other programs does not change it, but for `longestMs`. */
export interface Spent {
  readonly seconds: number;
  /** Milliseconds of processor time, of all threads. */
  readonly daemonMs: number;
  readonly redisMs: number;
  /** Commands in Redis, those of scripts included. */
  readonly commands: number;
  /** Milliseconds of the longest command or script, by Redis's clock; 0 where none took a millisecond. */
  readonly longestMs: number;
}

const logged = 4_096;
const slowerThanMicros = 1_000;
// Of these at most so many are printed.
const shownMicros = 10_000;
const shown = 3;

/** What a daemon and the stage's Redis spend on some work, the work of this process in Redis included. */
export async function spentOn(
  { parts: { redis } }: Stage,
  daemon: Pick<StageDaemon, 'pid'> | null,
  work: () => Promise<unknown>,
): Promise<Spent> {
  await redis.config('SET', 'slowlog-log-slower-than', slowerThanMicros);
  await redis.config('SET', 'slowlog-max-len', logged);
  await redis.slowlog('RESET');
  const read = async () => ({
    at: performance.now(),
    daemonMs: daemon === null ? 0 : (await usageOf(daemon.pid)).cpuSeconds * 1_000,
    redisMs: (await redisMicros(redis)) / 1_000,
    commands: await redisCommands(redis),
  });
  const before = await read();
  await work();
  const after = await read();
  const slow = ((await redis.slowlog('GET', logged)) as SlowCommand[]).filter(isMeasured);
  printSlow(slow);
  return {
    seconds: (after.at - before.at) / 1_000,
    daemonMs: after.daemonMs - before.daemonMs,
    redisMs: after.redisMs - before.redisMs,
    commands: after.commands - before.commands,
    longestMs: slow.reduce((most, [, , micros]) => Math.max(most, micros), 0) / 1_000,
  };
}

// Its number, its time, microseconds, and its words, of which Redis keeps the beginnings.
type SlowCommand = readonly [number, number, number, readonly string[]];

// Forgetting some thousand entries takes the log itself ten milliseconds.
function isMeasured([, , , [name = '']]: SlowCommand): boolean {
  return name.toLowerCase() !== 'slowlog';
}

// The commands that kept Redis from others for longest, each kind with its worst.
function printSlow(slow: readonly SlowCommand[]): void {
  const worst = new Map<string, number>();
  for (const [, , micros, words] of slow) {
    const name = words.slice(0, 4).join(' ').slice(0, 120);
    if (micros >= shownMicros) worst.set(name, Math.max(worst.get(name) ?? 0, micros));
  }
  for (const [name, micros] of [...worst].toSorted((a, b) => b[1] - a[1]).slice(0, shown))
    print('  kept Redis busy', { ms: micros / 1_000, for: name });
}

/** The cost of each of so many pieces of work, without what a daemon and Redis spend in that time when idle. */
export function eachOf(
  count: number,
  { seconds, daemonMs, redisMs, commands, longestMs }: Spent,
  idle: Spent | null = null,
): Spent {
  const share = idle === null ? 0 : seconds / idle.seconds;
  const each = (value: number, idleValue = 0) => Math.max(0, value - share * idleValue) / count;
  return {
    seconds: seconds / count,
    daemonMs: each(daemonMs, idle?.daemonMs),
    redisMs: each(redisMs, idle?.redisMs),
    commands: each(commands, idle?.commands),
    longestMs,
  };
}

/** What is spent in so many seconds without any work. */
export function spentIdle(stage: Stage, daemon: StageDaemon, seconds: number): Promise<Spent> {
  return spentOn(stage, daemon, () => sleep(seconds * 1_000));
}

/** The longest command in a row, 0 where none took a millisecond. */
export function longest(name: string, { longestMs }: Spent): Record<string, number> {
  return { [`${name}: longest command ms`]: longestMs };
}

/** The figures of a row with this beginning of their names: processor time and commands. */
export function figures(name: string, { daemonMs, redisMs, commands }: Spent): Record<string, number> {
  return {
    [`${name}: daemon ms`]: daemonMs,
    [`${name}: Redis ms`]: redisMs,
    [`${name}: commands`]: commands,
  };
}
