import { expect, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from './daemon-process.ts';
import { watchUsage, type PeakUsage } from './process-usage.ts';
import { receiverSecret } from '../receivers/receiver.ts';
import type { TestRedis } from '../redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../partner/sandbox.ts';

/** A subscription as the API shows it, as far as delivery's tests look at it. */
export interface ShownSubscription {
  readonly id: string;
  readonly state: string;
  readonly disabledReason: string | null;
  readonly lag: number;
  readonly consecutiveFailures: number;
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
}

/** An attempt as the API lists it. */
export interface ShownAttempt {
  readonly eventId: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly statusCode: number | null;
}

/**
 * A daemon that watches a sandbox with some filings, all of them PENDING at first. At its end it fails the
 * test if the daemon ever had more memory, files or sockets than it was allowed.
 */
export interface DeliveryStage extends AsyncDisposable {
  readonly daemon: DaemonProcess;
  readonly sandbox: TestSandbox;
  /** What it was started with, for another one beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ids of the filings. */
  readonly filings: readonly string[];
  /** Registers a subscription and returns its path. */
  subscribe(url: string, settings?: Record<string, unknown>): Promise<string>;
  /** Changes the status of filings, each time to another one than before: an event each. */
  move(filings?: readonly string[]): Promise<void>;
  show(path: string): Promise<ShownSubscription>;
  /** Every subscription, as the list shows it. */
  subscriptions(): Promise<ShownSubscription[]>;
  /** All pages of a list, newest first. */
  all<T>(path: string): Promise<T[]>;
}

// Three, so that a poll that has missed a move or two still sees another status.
const statuses = ['UNPAID', 'PAID', 'PENDING'];

/** What a daemon with a few subscriptions may use, however their endpoints behave. */
const usualUsage: PeakUsage = { rssMiB: 350, files: 120 };

/** Starts all of it; `variables` are for the daemon, `allowed` is what it may use. */
export async function startStage(
  redis: Pick<TestRedis, 'url' | 'prefix'>,
  filingCount: number,
  variables: Readonly<Record<string, string>> = {},
  allowed: PeakUsage = usualUsage,
): Promise<DeliveryStage> {
  const sandbox = await startSandbox();
  const filings = Array.from({ length: filingCount }, (_, i) => `f${i}`);
  const moved = new Map<string, number>();
  await Promise.all(filings.map((id) => sandbox.set(id, { status: 'PENDING' })));
  const environment = {
    REDIS_URL: redis.url,
    REDIS_PREFIX: `${redis.prefix}-${(stages += 1)}`,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
    POLL_INTERVAL_MS: '100',
    ...variables,
  };
  const daemon = await startDaemonProcess(environment);
  const usage = watchUsage(daemon.pid);
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  }, 20_000);

  async function moveOne(id: string): Promise<void> {
    const times = (moved.get(id) ?? 0) + 1;
    moved.set(id, times);
    await sandbox.set(id, { status: statuses[times % statuses.length] });
  }

  async function all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=100' : `?limit=100&cursor=${cursor}`;
      // Each page's cursor comes from the page before.
      const page: { items: T[]; nextCursor: string | null } = await daemon.api.ok('GET', path + query);
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return items;
  }

  return {
    daemon,
    sandbox,
    environment,
    filings,
    async subscribe(url, settings = {}) {
      const body = { url, secret: receiverSecret, ...settings };
      const { id } = await daemon.api.ok<{ id: string }>('POST', subscriptions, body);
      return `${subscriptions}/${id}`;
    },
    move: async (some = filings) => void (await Promise.all(some.map(moveOne))),
    show: (path) => daemon.api.ok<ShownSubscription>('GET', path),
    subscriptions: () => all<ShownSubscription>(subscriptions),
    all,
    async [Symbol.asyncDispose]() {
      const most = await usage.end();
      await daemon[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
      expectWithin(most, allowed);
    },
  };
}

const subscriptions = '/v1/accounts/default/subscriptions';
let stages = 0;

function expectWithin(most: PeakUsage | null, allowed: PeakUsage): void {
  if (most === null) return;
  expect(most.rssMiB, 'resident memory in MiB').toBeLessThan(allowed.rssMiB);
  expect(most.files, 'open files and sockets').toBeLessThan(allowed.files);
}
