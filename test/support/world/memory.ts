import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** What a daemon and Redis held at one moment. */
export interface MemorySample {
  /** Resident memory of the daemon's process, bytes. */
  readonly daemonBytes: number;
  /** `used_memory` of Redis. */
  readonly redisBytes: number;
  readonly redisKeys: number;
}

/** Looks once a second until the signal aborts; `metricsUrl` is the daemon's `/metrics`. */
export async function watchMemory(
  redisUrl: string,
  metricsUrl: string,
  signal: AbortSignal,
): Promise<MemorySample[]> {
  const redis = new Redis(redisUrl);
  const samples: MemorySample[] = [];
  while (!signal.aborted) {
    const metrics = await (await fetch(metricsUrl)).text();
    const info = await redis.info('memory');
    samples.push({
      daemonBytes: numberIn(metrics, /^process_resident_memory_bytes (\S+)$/m),
      redisBytes: numberIn(info, /^used_memory:(\d+)/m),
      redisKeys: await redis.dbsize(),
    });
    await delay(1_000, undefined, { signal }).catch(() => undefined);
  }
  redis.disconnect();
  return samples;
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1]);
}

/** The median of each quarter of a run, the first of which is its warm-up; pure. */
export function quarters(samples: readonly MemorySample[], of: keyof MemorySample): number[] {
  const values = samples.map((sample) => sample[of]);
  const length = Math.ceil(values.length / 4);
  return [0, 1, 2, 3].map((i) => median(values.slice(i * length, (i + 1) * length)));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
