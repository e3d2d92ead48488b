import { Queue, Worker } from 'bullmq';
import got from 'got';
import { Redis } from 'ioredis';
import { answer, isChild, startChild } from './child.ts';

/** A poller of many accounts that does no more than it has to, in a process of its own. */
export interface LeastPoller extends AsyncDisposable {
  readonly pid: number;
}

interface Settings {
  readonly redisUrl: string;
  readonly baseUrl: string;
  readonly accounts: number;
  readonly pollIntervalMs: number;
}

interface Filing {
  readonly id: string;
  readonly status: string;
  readonly completedAt: string | null;
}

/**
 * Starts one under the daemon's own options of Node: a BullMQ job scheduler an account, a page of the list a
 * poll, its filings compared with a hash in Redis. It ends with this process at the latest.
 */
export async function startLeastPoller(settings: Settings): Promise<LeastPoller> {
  const child = await startChild<Settings>(import.meta.url, [], { asDaemon: true });
  await child.ask(settings);
  return child;
}

async function poll({ redisUrl, baseUrl, accounts, pollIntervalMs }: Settings): Promise<void> {
  const [redis, connection] = [
    new Redis(redisUrl),
    new Redis(redisUrl, { maxRetriesPerRequest: null }),
  ] as const;
  const options = { connection, prefix: 'least' };
  const queue = new Queue<{ account: string }>('poll', options);
  const worker = new Worker<{ account: string }>(
    'poll',
    async ({ data: { account } }) => {
      const { items } = await got(`${baseUrl}/partner/filings?offset=0&limit=100`, {
        headers: { partnerkey: account },
        retry: { limit: 0 },
        timeout: { request: 10_000 },
      }).json<{ items: Filing[] }>();
      const known = await redis.hmget(`least:filings:${account}`, ...items.map(({ id }) => id));
      const changed = items.filter((filing, i) => known[i] !== stateOf(filing));
      if (changed.length > 0)
        await redis.hset(
          `least:filings:${account}`,
          ...changed.flatMap((filing) => [filing.id, stateOf(filing)]),
        );
    },
    { ...options, concurrency: 50, removeOnComplete: { count: 0 } },
  );
  worker.on('error', () => undefined);
  for (let i = 0; i < accounts; i += 1)
    // oxlint-disable-next-line no-await-in-loop
    await queue.upsertJobScheduler(
      `poll-${i}`,
      { every: pollIntervalMs, offset: 1 + Math.floor((i * pollIntervalMs) / accounts) },
      { name: 'poll', data: { account: `least-${i}` }, opts: { removeOnComplete: true } },
    );
}

function stateOf({ status, completedAt }: Filing): string {
  return `${status} ${completedAt ?? ''}`;
}

if (isChild(import.meta.url)) answer(poll);
