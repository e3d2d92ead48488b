import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { createKeys, type AccountKeys, type Keys, type SubscriptionKeys } from '../../../src/redis/keys.ts';
import { startCollector, type Collector } from '../receivers/collector.ts';
import { startDaemonProcess, type DaemonProcess } from './daemon-process.ts';
import type { TestRedis } from '../redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../partner/sandbox.ts';

/** What is done to a key, and who gets the next change nevertheless. */
interface Case {
  /** Writes what is not ours into the key, which has its own type and what the daemon put there. */
  readonly garbage: (redis: Redis, key: string, own: string) => Promise<unknown>;
  /** Who has to wait until the key is restored: `own` is the subscription that the case is about. */
  readonly waits: { readonly wrongType: Waits; readonly garbage: Waits };
  /** Where the garbage does no harm, nothing says that it is there. */
  readonly silent?: readonly Damage[];
}

type Damage = 'wrongType' | 'garbage';
type Waits = 'nobody' | 'own' | 'all';

const nobodyWaits = { wrongType: 'nobody', garbage: 'nobody' } as const;
const allWait = { wrongType: 'all', garbage: 'all' } as const;
const texts = [
  'garbage',
  '[1,"P",null',
  '{}',
  '17',
  'two\nlines',
  '"text"',
  '[1,2,3]',
  Buffer.from([0xff, 0xfe, 0x80]),
];

async function spoilFields(redis: Redis, key: string): Promise<void> {
  const fields = await redis.hkeys(key);
  if (fields.length === 0) throw new Error(`${key} is empty`);
  for (const [i, field] of fields.entries()) await redis.hset(key, field, texts[i % texts.length] ?? '');
}

const addField = (redis: Redis, key: string) => redis.hset(key, 'f_1', 'garbage');
const addEntry = (redis: Redis, key: string) => redis.xadd(key, '*', 'a', 'garbage');
const spoilText = (redis: Redis, key: string) => redis.set(key, 'garbage');

const addMember = (redis: Redis, key: string) => redis.zadd(key, 0, 'garbage');

// What only the API reads is named by the API.
const byApi = ['wrongType', 'garbage'] as const;

export const accountCases: Record<Exclude<keyof AccountKeys, 'base' | 'nothing' | 'subscription'>, Case> = {
  incarnation: { garbage: spoilText, waits: allWait },
  filings: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' } },
  index: { garbage: addMember, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  effective: { garbage: addMember, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  created: { garbage: addMember, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  lookAlikes: { garbage: addMember, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  answers: { garbage: addField, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  details: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  triage: { garbage: addField, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  counts: { garbage: spoilFields, waits: allWait },
  // Written once a minute.
  countHistory: { garbage: addEntry, waits: nobodyWaits, silent: byApi },
  head: { garbage: spoilText, waits: allWait },
  events: { garbage: addEntry, waits: { wrongType: 'all', garbage: 'nobody' } },
  bodies: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  filingEvents: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  missing: { garbage: addField, waits: { wrongType: 'all', garbage: 'nobody' } },
  polling: {
    garbage: (redis, key) => redis.hset(key, 'requestsTotal', 'garbage', 'hidden', 'x'),
    waits: { wrongType: 'all', garbage: 'nobody' },
  },
  lease: { garbage: spoilText, waits: nobodyWaits },
  sweepLease: { garbage: spoilText, waits: nobodyWaits, silent: byApi },
  tokens: { garbage: addField, waits: nobodyWaits, silent: ['wrongType'] },
  sessions: { garbage: addField, waits: nobodyWaits, silent: byApi },
  unreadable: { garbage: addEntry, waits: nobodyWaits, silent: byApi },
  subscriptions: {
    garbage: (redis, key, own) => redis.hset(key, own, 'garbage'),
    waits: { wrongType: 'all', garbage: 'own' },
  },
  certificates: { garbage: addMember, waits: nobodyWaits, silent: byApi },
  certificateWarnings: { garbage: addMember, waits: nobodyWaits, silent: byApi },
  order: { garbage: addMember, waits: nobodyWaits, silent: byApi },
  // The next deliverer begins it anew; every subscription has a cursor of its own.
  delivery: { garbage: spoilFields, waits: { wrongType: 'all', garbage: 'nobody' }, silent: ['garbage'] },
  changes: {
    garbage: (redis, key) => redis.lpush(key, 'garbage'),
    waits: { wrongType: 'all', garbage: 'nobody' },
    silent: ['garbage'],
  },
  registrations: { garbage: addMember, waits: nobodyWaits, silent: byApi },
  // Counted by the next reader.
  quota: { garbage: spoilText, waits: nobodyWaits, silent: byApi },
  idempotency: { garbage: spoilText, waits: nobodyWaits, silent: byApi },
};

export const subscriptionCases: Record<keyof SubscriptionKeys, Case> = {
  // The next settlement writes what a level subscription has of it.
  // Of a level subscription the deliverer reads none of these: it knows them.
  state: { garbage: spoilFields, waits: { wrongType: 'own', garbage: 'nobody' }, silent: ['garbage'] },
  lanes: { garbage: addField, waits: nobodyWaits, silent: byApi },
  attempts: { garbage: addEntry, waits: { wrongType: 'own', garbage: 'nobody' } },
  dead: { garbage: addEntry, waits: nobodyWaits, silent: ['wrongType'] },
  replays: {
    garbage: (redis, key) => redis.hset(key, 'running', 'rpl_1', 'rpl_1', 'garbage', 'rpl_1:state', '{'),
    waits: nobodyWaits,
    silent: byApi,
  },
  replayLanes: { garbage: addField, waits: nobodyWaits, silent: byApi },
};

// Those of the deployment are not an account's: `accounts`, `store` and `publishedCommits` have tests of their own,
// the others hold no record.
export const deploymentKeys: Record<keyof Keys, string> = {
  prefix: 'no key',
  queues: "BullMQ's",
  store: 'tested below',
  probe: 'is only written',
  aofMark: 'is only written',
  taken: 'counts what was taken; one that cannot be added to is named by background.error',
  polled: 'a time each; one that cannot be written is named by background.error',
  proxyOutage: 'a sentence that is shown as it is, for two minutes',
  hostBudget: 'lives for seconds, and begins anew where it cannot be read',
  proofs: 'lives for a minute, and begins anew where it cannot be read',
  accounts: 'tested below',
  accountLists: 'are written in one step with the records of the accounts',
  sessions: 'tested in test/security/sessions.test.ts',
  signed: 'holds no key, and what is lost of it is found again (src/subscriptions/public-keys.ts)',
  commits: 'a channel',
  publishedCommits: 'tested with the accounts',
  publishedCommitsApart: 'copies of those in a cluster, read by the same code',
  account: 'tested with the accounts',
};

const publishedCommitsCase: Case = { garbage: addEntry, waits: nobodyWaits, silent: ['garbage'] };
const idempotencyKey = 'the-key-of-the-test';
const idempotencyHash = createHash('sha256').update(idempotencyKey).digest('hex');

interface World {
  readonly account: string;
  readonly name: string;
  readonly damage: Damage;
  readonly case: Case;
  readonly keyOf: (own: string) => string;
  /** Ids of two subscriptions, filled in when they are registered. */
  own: string;
  beside: string;
}

/**
 * A daemon with an account for each case and damage, all at once: so each account is beside all the others.
 */
export interface RecordsStage extends AsyncDisposable {
  readonly daemon: DaemonProcess;
  readonly sandbox: TestSandbox;
  readonly keys: Keys;
  readonly client: Redis;
  /** Two filings take a status; resolves when all accounts' subscriptions have heard of it. */
  change(status: string): Promise<void>;
  /** Spoils the key of each account, and expects what the cases say. */
  spoilAll(): Promise<void>;
}

const atOnce = 8;

/** Starts it with those cases that `wanted` names, or all; every account is past its baseline. */
export async function startRecordsStage(
  redis: Pick<TestRedis, 'url' | 'prefix' | 'connect'>,
  wanted?: readonly string[],
): Promise<RecordsStage> {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await startSandbox());
  for (const id of ['f_1', 'f_2']) await sandbox.set(id, { status: 'PENDING' });
  const owns = stack.use(await startCollector());
  const besides = stack.use(await startCollector());
  const environment = { REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix, PARTNER_MAX_RPS: '1000' };
  const daemon = stack.use(await startDaemonProcess(environment));
  const client = redis.connect();
  const keys = createKeys(redis.prefix);
  const worlds = worldsOf(keys).filter(({ name }) => wanted?.includes(name) ?? true);

  async function setUp(world: World): Promise<void> {
    const path = `/v1/accounts/${world.account}`;
    const settings = { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key', pollIntervalMs: 1_000 };
    await daemon.api.ok('PUT', path, settings);
    await daemon.api.ok('POST', `${path}/tokens`, { name: 'a' });
    const register = async ({ url, secret }: Collector, headers: Record<string, string>) => {
      const to = `${path}/subscriptions`;
      return (await daemon.api.call<{ id: string }>('POST', to, { url, secret }, headers)).body.id;
    };
    world.own = await register(owns, { 'idempotency-key': idempotencyKey });
    world.beside = await register(besides, {});
  }

  async function healthOf(account: string) {
    const path = `/v1/accounts/${account}`;
    return (await daemon.api.ok<{ health: { state: string; lastError: string | null } }>('GET', path)).health;
  }

  async function expectTold(collector: Collector, account: string, status: string): Promise<void> {
    const told = () =>
      ['f_1', 'f_2'].filter((id) =>
        collector.received.some(
          ({ event: { data } }) => data.account === account && data.filingId === id && data.status === status,
        ),
      );
    const expectBoth = () => expect([account, ...told()]).toEqual([account, 'f_1', 'f_2']);
    await vi.waitFor(expectBoth, { timeout: 60_000, interval: 50 });
  }

  async function spoil({ case: { garbage }, damage, keyOf, own }: World): Promise<Buffer | null> {
    const key = keyOf(own);
    const before = await client.dumpBuffer(key);
    if (damage === 'garbage') {
      await garbage(client, key, own);
    } else {
      const isText = (await client.type(key)) === 'string';
      const emptied = client.multi().del(key);
      await (isText ? emptied.rpush(key, 'a list') : emptied.set(key, 'a text')).exec();
    }
    return before;
  }

  async function expectReadable({ account, own }: World): Promise<void> {
    for (const path of readPaths(own)) {
      const { status, body } = await daemon.api.call('GET', `/v1/accounts/${account}${path}`);
      const { code } = body as { code?: string };
      expect([account, path, status, code]).toEqual(
        status === 200 ? [account, path, 200, undefined] : [account, path, 503, 'record_unreadable'],
      );
    }
  }

  async function expectNamed({ account, damage, case: of, keyOf, own }: World): Promise<void> {
    if (of.silent?.includes(damage) !== true) {
      const isNamed = () =>
        daemon.logs.some(
          ({ msg, account: whose, key }) =>
            msg === 'record.unreadable' && whose === account && key === keyOf(own),
        );
      await vi.waitFor(() => expect([account, isNamed()]).toEqual([account, true]), {
        timeout: 10_000,
        interval: 50,
      });
    }
    const waits = of.waits[damage];
    if (waits === 'nobody') return;
    const path = `/v1/accounts/${account}${waits === 'own' ? '/subscriptions' : ''}`;
    // Named by the next poll of the account or the next delivery to the subscription.
    await vi.waitFor(
      async () =>
        expect([account, JSON.stringify((await daemon.api.call('GET', path)).body)]).toEqual([
          account,
          expect.stringContaining(keyOf(own)),
        ]),
      { timeout: 10_000, interval: 50 },
    );
  }

  await inTurns(worlds, setUp);
  await vi.waitFor(
    async () => {
      for (const { account } of worlds) expect((await healthOf(account)).state).toBe('ok');
    },
    { timeout: 60_000, interval: 500 },
  );
  const set = async (status: string) => {
    for (const id of ['f_1', 'f_2'])
      await sandbox.set(id, { status, rejectionReason: status === 'REJECTED' ? 'no' : null });
  };
  const expectAllTold = (status: string) =>
    inTurns(worlds, async ({ account }) => {
      for (const collector of [owns, besides]) await expectTold(collector, account, status);
    });
  const running = stack.move();
  return {
    daemon,
    sandbox,
    keys,
    client,
    async change(status) {
      await set(status);
      await expectAllTold(status);
    },
    async spoilAll() {
      const before = new Map<World, Buffer | null>();
      for (const world of worlds) before.set(world, await spoil(world));
      await set('REJECTED');
      await inTurns(worlds, expectReadable);
      await inTurns(worlds, async ({ account, damage, case: { waits } }) => {
        if (waits[damage] !== 'all') await expectTold(besides, account, 'REJECTED');
        if (waits[damage] === 'nobody') await expectTold(owns, account, 'REJECTED');
      });
      await inTurns(worlds, expectReadable);
      await inTurns(worlds, expectNamed);
      for (const [{ account, case: of, damage, keyOf, own }, held] of before) {
        if (of.waits[damage] === 'nobody') continue;
        await (held === null ? client.del(keyOf(own)) : client.restore(keyOf(own), 0, held, 'REPLACE'));
        // It would go on by itself within five minutes.
        if (of.waits[damage] === 'own')
          await daemon.api.ok('POST', `/v1/accounts/${account}/subscriptions/${own}/resume`);
      }
      await expectAllTold('REJECTED');
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const damages: readonly Damage[] = ['wrongType', 'garbage'];

function worldsOf(keys: Keys): World[] {
  return damages.flatMap((damage) => {
    const world = (name: string, of: Case, keyOf: (account: string, own: string) => string): World => {
      const account = `${name}-${damage}`;
      return { account, name, damage, case: of, keyOf: (own) => keyOf(account, own), own: '', beside: '' };
    };
    return [
      world('witness', publishedCommitsCase, keys.publishedCommits),
      ...Object.entries(accountCases).map(([name, of]) =>
        world(name, of, (account) => {
          const key = keys.account(account)[name as keyof typeof accountCases];
          return typeof key === 'string' ? key : key(idempotencyHash);
        }),
      ),
      ...Object.entries(subscriptionCases).map(([name, of]) =>
        world(
          name,
          of,
          (account, own) => keys.account(account).subscription(own)[name as keyof SubscriptionKeys],
        ),
      ),
    ];
  });
}

function readPaths(own: string): string[] {
  const subscription = `/subscriptions/${own}`;
  return [
    '',
    '/counts',
    '/tokens',
    '/subscriptions',
    subscription,
    `${subscription}/attempts`,
    `${subscription}/dead-letters`,
    '/events',
    '/events?filingId=f_1',
    '/filings',
    '/filings?status=PENDING',
    '/filings?status=PENDING&order=newest',
    '/filings/f_1',
  ];
}

async function inTurns<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
