import { randomBytes } from 'node:crypto';
import { expect, vi } from 'vitest';
import { openApi, type ApiCaller } from '../api/api-caller.ts';
import { apiToken } from '../daemon/daemon-process.ts';
import { startSandbox, type TestSandbox } from '../partner/sandbox.ts';
import { createFilingLives, type FilingLives } from './filing-lives.ts';
import type { Journals, Subscriber } from '../journals/journals.ts';
import { startPartnerRecorder, type PartnerRecorder } from './partner-recorder.ts';
import { superviseDaemon, type SupervisedDaemon } from './supervised-daemon.ts';
import type { TestAuthority } from '../receivers/certificates.ts';
import { startTapingReceiver, type TapingReceiver } from './taping-receiver.ts';
import { seededRandom } from '../seeded-random.ts';

/**
 * A partner service with two accounts, daemons that watch them, and subscribers of each, all journalled.
 */
export interface World extends AsyncDisposable {
  readonly daemons: readonly SupervisedDaemon[];
  readonly lives: FilingLives;
  readonly receiver: TapingReceiver;
  readonly recorder: PartnerRecorder;
  readonly sandbox: TestSandbox;
  /** The API of the first daemon, at its present address. */
  api(): ApiCaller;
  /**
   * Waits until what the partner service shows now has been seen and delivered; false when that takes longer
   * than `timeoutMs`.
   */
  settle(timeoutMs?: number): Promise<boolean>;
  journals(): Journals;
}

export interface WorldOptions {
  readonly redisUrl: string;
  readonly prefix?: string;
  /** Roles of each daemon. The first must have the API. Default: one daemon with all. */
  readonly roles?: readonly string[];
  /** Filings of the baseline, per account; default 20. */
  readonly filings?: number;
  /** Subscribers of each account, named `<account>.a` and so on, from 26 on by number; default 2. */
  readonly subscribers?: number;
  /** Settings of each subscription besides its URL and secret. */
  readonly settings?: object;
  readonly random?: () => number;
  /** Subscribers that each ask for a client certificate of their own, issued by this authority. */
  readonly mutual?: TestAuthority;
  readonly environment?: Readonly<Record<string, string>>;
  /** Entry of another copy of the tree, which all daemons are started from. */
  readonly sources?: string;
}

/** The daemons' `DELIVERY_MAX_IN_FLIGHT`. */
export const maxInFlight = 10;
/** The accounts of every world. */
export const accounts = ['default', 'second'] as const;

const letters = 'abcdefghijklmnopqrstuvwxyz';

const partnerKeys: Readonly<Record<string, string>> = { default: 'sandbox-key', second: 'sandbox-key-2' };
// Eight minutes of tries: nothing is given up while a test runs.
const retryMs = [100, 200, 400, 800, 1_000, ...Array.from({ length: 20 }, () => 2_000), 60_000, 60_000].join(
  ',',
);

/** Starts everything; resolves when the baselines are complete and the subscribers registered. */
export async function startWorld(options: WorldOptions): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const { roles = ['api,poll,deliver'], filings = 20, random = seededRandom('CRASH_SEED') } = options;
  const sandbox = stack.use(await startSandbox());
  const recorder = stack.use(
    await startPartnerRecorder(
      sandbox.baseUrl,
      (key) => accounts.find((account) => partnerKeys[account] === key) ?? key,
    ),
  );
  const { mutual } = options;
  const receiver = stack.use(
    await startTapingReceiver(mutual && { ...(await mutual.issue('receiver')), ca: mutual.cert }),
  );
  const owners = await ownersOf(sandbox.baseUrl);
  const lives = createFilingLives(
    new URL(sandbox.baseUrl).origin,
    (account) => owners.get(account) ?? '',
    random,
  );
  for (const account of accounts) {
    for (let i = 0; i < filings; i += 1) {
      await lives.move(account, `${account}-${i}`, i % 2 === 0 ? 'PENDING' : 'PAID');
      // Those that are reopened and completed while nobody sees it are never most of the COMPLETED ones, which
      // would be doubted (docs/polling.md#lists-that-are-not-the-accounts-own).
      await lives.complete(account, `${account}-done-${i}`);
    }
  }

  const environment = {
    PORT: '0',
    API_TOKEN: apiToken,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    REDIS_URL: options.redisUrl,
    REDIS_PREFIX: options.prefix ?? `w${randomBytes(6).toString('hex')}`,
    PARTNER_BASE_URL: recorder.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
    POLL_INTERVAL_MS: '200',
    SWEEP_INTERVAL_MS: '2000',
    DELIVERY_RETRY_MS: retryMs,
    DELIVERY_MAX_IN_FLIGHT: String(maxInFlight),
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    DELIVERY_ALLOW_HTTP: 'true',
    ...options.environment,
  };
  const daemons = roles.map((role) =>
    stack.use(superviseDaemon({ ...environment, ROLES: role }, options.sources)),
  );
  const api = () => openApi(daemons[0]?.url() ?? '', apiToken);
  await Promise.all(daemons.map((daemon) => daemon.untilStarted()));
  await api().ok('PUT', '/v1/accounts/second', { baseUrl: recorder.baseUrl, partnerKey: 'sandbox-key-2' });
  for (const account of accounts) await untilBaselined(api, account);
  const subscribers: Subscriber[] = [];
  for (const account of accounts) subscribers.push(...(await subscribe(api(), receiver, account, options)));
  lives.begin();

  const polls = () => daemons.flatMap((daemon) => daemon.polls());
  const running = stack.move();
  return {
    daemons,
    lives,
    receiver,
    recorder,
    sandbox,
    api,
    settle: (timeoutMs = 90_000) => settle({ api, lives, polls }, timeoutMs),
    journals: () => ({
      dwells: lives.dwells(),
      served: recorder.served,
      polls: polls(),
      subscribers,
      callbacks: receiver.callbacks,
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function ownersOf(baseUrl: string): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const account of accounts) {
    const answer = await fetch(`${baseUrl}/partner/me`, {
      headers: { PartnerKey: partnerKeys[account] ?? '' },
    });
    owners.set(account, ((await answer.json()) as { email: string }).email.split('@')[0] ?? '');
  }
  return owners;
}

async function untilBaselined(api: () => ApiCaller, account: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { health } = await api().ok<{ health: { state: string } }>('GET', `/v1/accounts/${account}`);
      expect(health.state).toBe('ok');
    },
    { timeout: 30_000, interval: 50 },
  );
}

async function subscribe(
  api: ApiCaller,
  receiver: TapingReceiver,
  account: string,
  { subscribers: count = 2, settings, mutual }: WorldOptions,
): Promise<Subscriber[]> {
  const subscribers: Subscriber[] = [];
  for (let i = 0; i < count; i += 1) {
    const id = `${account}.${letters[i] ?? i}`;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const tls = mutual && { ...(await mutual.issue(id)), ca: mutual.cert };
    const body = { ...settings, url: receiver.urlOf(id), secret, tls };
    await api.ok('POST', `/v1/accounts/${account}/subscriptions`, body);
    subscribers.push({ id, account, secret });
  }
  return subscribers;
}

interface Settling {
  readonly api: () => ApiCaller;
  readonly lives: FilingLives;
  readonly polls: () => Journals['polls'];
}

// Three complete polls of each account after the last change, for a removal takes as many, and nobody behind.
async function settle({ api, lives, polls }: Settling, timeoutMs: number): Promise<boolean> {
  const isSettled = async () => {
    for (const account of accounts) {
      const after = polls().filter((poll) => poll.account === account && poll.from > lives.lastChangeAt());
      if (after.length < 3) return false;
      if (await isAnyBehind(api(), account)) return false;
    }
    return true;
  };
  const waited = vi.waitFor(async () => expect(await isSettled()).toBe(true), {
    timeout: timeoutMs,
    interval: 200,
  });
  return waited.then(
    () => true,
    () => false,
  );
}

async function isAnyBehind(api: ApiCaller, account: string): Promise<boolean> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await api.ok<{ items: { lag: number }[]; nextCursor: string | null }>(
      'GET',
      `/v1/accounts/${account}/subscriptions?limit=100${from}`,
    );
    if (page.items.some(({ lag }) => lag > 0)) return true;
    cursor = page.nextCursor;
  }
  return false;
}
