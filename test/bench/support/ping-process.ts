import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { answer, isChild, startChild } from './child.ts';

/** A client in a process of its own that sends PING every millisecond, one at a time. */
export interface PingProcess extends AsyncDisposable {
  /** The longest wait for an answer since the last call, in milliseconds. */
  longest(): Promise<number>;
}

/** Starts one over a Redis; it ends with this process at the latest. */
export async function startPingProcess(redisUrl: string): Promise<PingProcess> {
  const child = await startChild<'longest'>(import.meta.url, [redisUrl]);
  return {
    longest: () => child.ask<number>('longest'),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function pingOn(): Promise<void> {
  const redis = new Redis(process.argv[2] ?? '');
  let longest = 0;
  await redis.ping();
  answer(() => {
    const answered = longest;
    longest = 0;
    return answered;
  });
  for (;;) {
    const sentAt = performance.now();
    // oxlint-disable no-await-in-loop
    await redis.ping();
    longest = Math.max(longest, performance.now() - sentAt);
    await sleep(1);
    // oxlint-enable no-await-in-loop
  }
}

if (isChild(import.meta.url)) await pingOn();
