import { Redis } from 'ioredis';
import { createFilingListStore } from '../../src/filings/lists/filing-list-store.ts';
import { agedSources } from '../../src/filings/lists/walk-sources.ts';
import { searchWords } from '../../src/filings/lists/search-words.ts';
import { createSnapshotStore } from '../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../src/polling/store/polling-store.ts';
import { createKeys } from '../../src/redis/keys.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { detailsOf } from '../support/details-of.ts';
import { percentile, print } from './support/statistics.ts';

const filings = 100_000;
const repeats = 10;

/**
 * A search among a hundred thousand filings whose details are kept, by a word that one of them has, that many
 * have, and that none has; the same among the ids of a hundred thousand completed ones; and a board of a
 * thousand accounts with a hundred rejections each.
 */
export async function run(): Promise<void> {
  await using server = await startPrivateRedis('in memory');
  const client = new Redis(server.url);
  try {
    const keys = createKeys('bench');
    const lists = createFilingListStore(client, keys);
    const put = createWriter(client);
    await put('kept', filings, (i) => (i % 2 === 0 ? 'REJECTED' : 'PENDING'));
    await put('settled', filings, () => 'COMPLETED');
    await measure('a word that none has', repeats, () => search('kept', 'nobody'));
    await measure('a word that one has', repeats, () => search('kept', 'policy-77777'));
    await measure('a word that all have', repeats, () => search('kept', 'insured'));
    await measure('a part of the ids of completed filings', repeats, () =>
      lists.scan('settled', { part: 'f_77777', status: 'COMPLETED', after: null, limit: 100 }),
    );

    async function search(account: string, q: string) {
      const words = searchWords(q);
      return lists.walk(agedSources(account, ['REJECTED', 'PENDING', 'UNPAID', 'PAID']), {
        order: 'newest',
        after: null,
        limit: 50,
        mayWant: words.mayMatch,
        wants: ({ id, details }) => words.matches(id, details),
      });
    }

    const accounts = Array.from({ length: 1_000 }, (_, i) => `board-${i}`);
    for (const account of accounts) await put(account, 100, () => 'REJECTED');
    const board = (limit: number) =>
      lists.walk(
        accounts.flatMap((account) => agedSources(account, ['REJECTED'])),
        { order: 'oldest', after: null, limit, readMax: 20_000 },
      );
    await measure('the first board of a thousand accounts', 1, () => board(50));
    await measure('a page of the board of a thousand accounts', repeats, () => board(50));
    await measure('five thousand rejections of the board', repeats, () => board(5_000));
  } finally {
    client.disconnect();
  }
}

async function measure(
  label: string,
  times: number,
  work: () => Promise<{ readonly filings: readonly unknown[]; readonly read: number }>,
): Promise<void> {
  const durations: number[] = [];
  let [found, read] = [0, 0];
  for (let i = 0; i < times; i += 1) {
    const begun = performance.now();
    // One after the other: each is measured alone.
    const page = await work();
    durations.push(performance.now() - begun);
    [found, read] = [page.filings.length, page.read];
  }
  print(label, {
    found: String(found),
    read: String(read),
    'p50 ms': percentile(durations, 0.5),
    'max ms': Math.max(...durations),
  });
}

// Writes filings as polls do, five hundred at once.
function createWriter(client: Redis) {
  const keys = createKeys('bench');
  const snapshot = createSnapshotStore(client, keys);
  const polling = createPollingStore(client, keys);
  return async (account: string, count: number, status: (i: number) => string) => {
    const { generation } = await polling.begin(account, '');
    for (let from = 0; from < count; from += 500) {
      const some = Array.from({ length: Math.min(500, count - from) }, (_, i) =>
        commitOf(from + i, status(from + i)),
      );
      // The store takes one batch after the other.
      await snapshot.commit(account, generation, some, 1);
    }
  };
}

function commitOf(i: number, status: string) {
  const since = 1_700_000_000_000 + i;
  const read = { sequence: 0, since, readFrom: since, readAt: since, removed: false };
  const isRejected = status === 'REJECTED';
  // Half of the rejections count from their filing's own time.
  const own = isRejected && i % 4 < 2 ? { created: since - 86_400_000 } : {};
  const rejectionReason = isRejected ? 'The affidavit is not signed by the producing broker' : null;
  const details = detailsOf({
    policyNumber: `POLICY-${i}`,
    insuredsName: `Insured Number ${i} Holdings LLC`,
    filingState: { stateAbbr: 'TX' },
    filingType: 'NEW_BUSINESS',
    premium: 1_200.5,
  });
  return {
    id: `f_${i}`,
    previous: null,
    next: { status, completedAt: null, rejectionReason, ...read, ...own },
    details: status === 'COMPLETED' ? null : details,
    event: null,
  };
}
