import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createFilingListStore } from '../../../src/filings/lists/filing-list-store.ts';
import type { FilingState } from '../../../src/filings/detection/filing-state.ts';
import { lastTime, type AgeOrder, type FilingIndexName } from '../../../src/filings/detection/age-rank.ts';
import type { WalkedFilings } from '../../../src/filings/lists/ordered-walk.ts';
import { agedSources } from '../../../src/filings/lists/walk-sources.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { rowsRead } from '../../support/redis/rows-read.ts';
import { startPrivateRedis, testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

interface Known {
  readonly status: string;
  readonly since: number;
  readonly removed?: boolean;
  /** Effective date, ms; left out: not known. */
  readonly from?: number;
  /** The filing's own time, ms; left out: not known. */
  readonly created?: number;
}

/** An account whose snapshot is written as polls write it, and what it should show. */
async function openBook(client: Redis, prefix: string, account: string) {
  const keys = createKeys(prefix);
  const snapshot = createSnapshotStore(client, keys);
  const { generation } = await createPollingStore(client, keys).begin(account, '');
  const expected = new Map<string, Known>();
  return {
    key: keys.account(account),
    lists: createFilingListStore(client, keys),
    expected,
    async put(filings: readonly (readonly [id: string, known: Known])[]): Promise<void> {
      const previous = await snapshot.read(
        account,
        filings.map(([id]) => id),
      );
      const commits = filings.map(([id, known], i) => ({
        id,
        previous: previous[i] ?? null,
        next: stateOf(known),
        details: null,
        event: null,
      }));
      const results = await snapshot.commit(account, generation, commits, 1);
      expect(results.every(({ kind }) => kind === 'written')).toBe(true);
      for (const [id, known] of filings) expected.set(id, known);
    },
    sorted(status: string, timeOf = ({ since }: Known) => since): string[] {
      return [...expected]
        .filter(([, known]) => known.status === status && known.removed !== true)
        .toSorted(([a, one], [b, other]) => timeOf(other) - timeOf(one) || (a < b ? -1 : 1))
        .map(([id]) => id);
    },
  };
}

function stateOf({ status, since, removed = false, from, created }: Known): FilingState {
  const unchanged = { completedAt: null, rejectionReason: null, sequence: 0 };
  const effective = from === undefined ? {} : { effective: { stateAbbr: 'TX', at: from } };
  const bound = created === undefined ? {} : { created };
  return { ...unchanged, status, since, readFrom: since, readAt: since, removed, ...effective, ...bound };
}

const dateOf = ({ from }: Known) => from ?? lastTime;

type Book = Awaited<ReturnType<typeof openBook>>;

async function list(
  { lists }: Book,
  account: string,
  status: string,
  limit: number,
  order: AgeOrder = 'newest',
  by: FilingIndexName = 'index',
) {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: WalkedFilings = await lists.walk([{ account, status, by }], { order, after, limit });
    ids.push(...page.filings.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return ids;
}

const statuses = ['UNPAID', 'PENDING', 'REJECTED', 'COMPLETED', 'ODD\n"status'];

// What each list shows in the course of random commits, and what it should show.
async function liveRandomly(seed: number): Promise<{ shown: string[][]; expected: string[][] }> {
  const random = createRandom(seed);
  const account = `random-${seed}`;
  const book = await openBook(redis.connect(), redis.prefix, account);
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  const [shown, expected]: [string[][], string[][]] = [[], []];
  for (let round = 0; round < 40; round += 1) {
    const ids = new Set(Array.from({ length: 12 }, () => `f_${Math.floor(random() * 60)}`));
    const one = () => {
      const known = { status: pick(statuses), since: Math.floor(random() * 9), removed: random() < 0.1 };
      return random() < 0.2 ? known : { ...known, from: Math.floor(random() * 9) };
    };
    await book.put([...ids].map((id) => [id, one()]));
    if (round % 5 !== 4) continue;
    for (const status of statuses.filter((each) => each !== 'COMPLETED')) {
      const limit = 1 + Math.floor(random() * 7);
      shown.push(await list(book, account, status, limit));
      shown.push(await list(book, account, status, limit, 'oldest'));
      shown.push(await list(book, account, status, limit, 'oldest', 'effective'));
      expected.push(book.sorted(status), book.sorted(status).toReversed());
      expected.push(book.sorted(status, dateOf).toReversed());
    }
  }
  return { shown, expected };
}

test.each([1, 2, 3])('the order stays right through random commits (%i)', async (seed) => {
  const { shown, expected } = await liveRandomly(seed);
  expect(shown).toEqual(expected);
});

test.each(['newest', 'oldest'] as const)(
  'rejections with a time of their own stand at it among the others, the %s first',
  async (order) => {
    const random = createRandom(7);
    const book = await openBook(redis.connect(), redis.prefix, order);
    const ids = Array.from({ length: 40 }, (_, i) => `f_${i}`);
    await book.put(
      ids.map((id) => {
        const since = 5 + Math.floor(random() * 5);
        const own = random() < 0.5 ? { created: Math.floor(random() * since) } : {};
        return [id, { status: 'REJECTED', since, ...own }];
      }),
    );
    const found: string[] = [];
    let after: string | null = null;
    do {
      // Each page begins where the one before ended.
      const page: WalkedFilings = await book.lists.walk(agedSources(order, ['REJECTED']), {
        order,
        after,
        limit: 3,
      });
      found.push(...page.filings.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(found.toSorted()).toEqual(ids.toSorted());
    const times = found
      .map((id) => book.expected.get(id))
      .map((known) => known?.created ?? known?.since ?? 0);
    const sorted = times.toSorted((a, b) => a - b);
    expect(times).toEqual(order === 'oldest' ? sorted : sorted.toReversed());
  },
);

test('filings of several statuses are merged by their shifted dates, and pages go on behind each', async () => {
  const book = await openBook(redis.connect(), redis.prefix, 'shifted');
  await book.put([
    ['a', { status: 'PENDING', since: 1, from: 10 }],
    ['b', { status: 'PENDING', since: 1, from: 30 }],
    ['c', { status: 'REJECTED', since: 1, from: 15 }],
    ['d', { status: 'REJECTED', since: 1 }],
    ['e', { status: 'REJECTED', since: 1, from: 12 }],
    ['f', { status: 'PENDING', since: 1 }],
  ]);
  const source = { account: 'shifted', by: 'effective' } as const;
  const sources = [
    { ...source, status: 'PENDING' },
    { ...source, status: 'REJECTED', shiftMs: 5, takes: ({ since }: FilingState) => since === 1 },
    { ...source, status: 'REJECTED', shiftMs: 2 * lastTime, takes: () => false },
  ];
  const ids: string[] = [];
  let after: string | null = null;
  do {
    // Each page begins where the one before ended.
    const page: WalkedFilings = await book.lists.walk(sources, { order: 'oldest', after, limit: 1 });
    ids.push(...page.filings.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  expect(ids).toEqual(['a', 'e', 'c', 'b', 'f', 'd']);
});

test('filings that stay are listed once while commits go on', async () => {
  const book = await openBook(redis.connect(), redis.prefix, 'busy');
  const ids = Array.from({ length: 3_000 }, (_, i) => `f_${i}`);
  for (let i = 0; i < ids.length; i += 500)
    await book.put(ids.slice(i, i + 500).map((id, j) => [id, { status: 'PENDING', since: 1_000 + i + j }]));
  const listing = list(book, 'busy', 'PENDING', 100);
  for (let i = 0; i < 60; i += 1) {
    const status = i % 3 === 0 ? 'PENDING' : i % 3 === 1 ? 'REJECTED' : 'COMPLETED';
    await book.put([[`f_${i * 49}`, { status, since: 9_000 + i }]]);
  }
  const untouched = new Set(ids.filter((id) => (book.expected.get(id)?.since ?? 0) < 9_000));
  const seen = await listing;
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => untouched.has(id))).toEqual(
    book.sorted('PENDING').filter((id) => untouched.has(id)),
  );
  expect(await list(book, 'busy', 'PENDING', 100)).toEqual(book.sorted('PENDING'));
  expect(await list(book, 'busy', 'REJECTED', 100)).toEqual(book.sorted('REJECTED'));
});

test('a filing that changes its status after the index was read, and before its state, is ordered once', async () => {
  const book = await openBook(redis.connect(), redis.prefix, 'between');
  await book.put([
    ['f_1', { status: 'PENDING', since: 1_000 }],
    ['f_2', { status: 'PENDING', since: 2_000 }],
  ]);
  const client = redis.connect();
  const read = client.hmget.bind(client) as (key: string, ...ids: string[]) => Promise<(string | null)[]>;
  let since = 3_000;
  client.hmget = (async (key: string, ...ids: string[]) => {
    if (key === book.key.filings) {
      since += 1;
      await book.put([['f_1', { status: since % 2 === 0 ? 'PENDING' : 'REJECTED', since }]]);
    }
    return read(key, ...ids);
  }) as typeof client.hmget;
  const lists = createFilingListStore(client, createKeys(redis.prefix));
  const query = { order: 'newest', after: null, limit: 10 } as const;
  const pending = await lists.walk([{ account: 'between', status: 'PENDING' }], query);
  expect(pending.filings.map(({ id }) => id)).toEqual(book.sorted('PENDING'));
  const rejected = await lists.walk([{ account: 'between', status: 'REJECTED' }], query);
  expect(rejected.filings.map(({ id }) => id)).toEqual(book.sorted('REJECTED'));
});

test('a page of thousands of filings reads those of the page', async () => {
  await using own = await startPrivateRedis();
  const client = new Redis(own.url);
  const book = await openBook(client, 'rows', 'many');
  for (let i = 0; i < 4_000; i += 500)
    await book.put(
      Array.from({ length: 500 }, (_, j) => [`f_${i + j}`, { status: 'PENDING', since: i + j }]),
    );
  const query = { order: 'newest', limit: 2 } as const;
  const pages = [{ account: 'many', status: 'PENDING' }];
  const first = await book.lists.walk(pages, { ...query, after: null });
  expect(first.filings.map(({ id }) => id)).toEqual(['f_3999', 'f_3998']);
  const page = await rowsRead(client, () => book.lists.walk(pages, { ...query, after: first.next }));
  expect(page.result.filings.map(({ id }) => id)).toEqual(['f_3997', 'f_3996']);
  expect(page.commands).toBeLessThan(12);
  expect(page.bytes).toBeLessThan(2_000);
  client.disconnect();
});
