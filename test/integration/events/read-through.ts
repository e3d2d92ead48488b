import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { scanEvents } from '../../../src/api/events/scan.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { createTypeSearch } from '../../../src/events/search/log-sections.ts';
import { logBeginning, type Checkpoint } from '../../../src/events/timeline.ts';
import { createKeys } from '../../../src/redis/keys.ts';

/**
 * What this process, started with `--expose-gc`, sends of its memory: MiB of heap and buffers, and
 * milliseconds.
 */
export interface ReadThrough {
  readonly events: number;
  /** More than before, at once after the reading. */
  readonly afterwards: number;
  /** More than before, at the end. */
  readonly kept: number;
  /** Until no more than `keptMax` was kept; it ends later when that is not so. */
  readonly ms: number;
}

const [url = '', prefix = '', account = '', way = '', keptMax = ''] = process.argv.slice(2);
const patienceMs = 15_000;
const redis = new Redis(url);
const keys = createKeys(prefix);
const log = createEventLog(redis, keys);
const sections = createTypeSearch(redis, keys, log);

/**
 * Reads the log from its beginning to its end, as drains or as the list of the API do; returns how many
 * events it has.
 */
async function readThrough(): Promise<number> {
  let events = 0;
  let [at, more]: [Checkpoint, boolean] = [logBeginning, true];
  while (more) {
    const read = way === 'drain' ? await log.readAfter(account, at, 40) : await list(at);
    events += read.entries.length;
    at = read.entries.at(-1) ?? at;
    ({ more } = read);
  }
  return events;
}

const list = (at: Checkpoint, limit = 100) =>
  scanEvents({ log, sections }, account, at, { types: null, filingId: null }, limit);

function usedMiB(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

// What is loaded and compiled with the first reading stays.
await list(logBeginning, 1);
await sleep(1_500);
const before = usedMiB();
const events = await readThrough();
const afterwards = usedMiB() - before;
const startedAt = performance.now();
while (usedMiB() - before > Number(keptMax) && performance.now() - startedAt < patienceMs) await sleep(100);
const ms = performance.now() - startedAt;
process.send?.({ events, afterwards, kept: usedMiB() - before, ms } satisfies ReadThrough);
redis.disconnect();
