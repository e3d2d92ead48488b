import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { createCommitJournal, type CommitBatch } from '../../../../src/filings/commit/commit-journal.ts';
import { StoredState } from '../../../../src/filings/detection/filing-state.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const mebibyte = 2 ** 20;

async function usedBytes(): Promise<number> {
  // What a turn of the event loop has left is collected after it.
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function batchOf(account: string): CommitBatch {
  const body = randomBytes(mebibyte / 2).toString('hex');
  const event = { id: 'e', type: 'filing.paid', filingId: 'f', state: '', status: 'PAID', body };
  const next = { status: 'PAID', sequence: 1 };
  const commits = [
    { id: 'f', previous: null, next, details: null, event },
  ] as unknown as CommitBatch['commits'];
  return { account, generation: 'g', head: { position: 1, timeline: 't' }, at: 1, commits };
}

const text = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

// A page of filings with small bodies: most of what they take is beside these.
function pageOf(account: string): CommitBatch {
  const commits = Array.from({ length: 100 }, (_, i) => {
    const event = {
      id: text(40),
      type: 'filing.paid',
      filingId: `f${i}`,
      state: 'TX',
      status: 'PAID',
      body: text(200),
    };
    const next = { status: 'PAID', sequence: i, completedAt: text(24), since: i, readFrom: i, readAt: i };
    const details = {
      policyNumber: text(12),
      insuredsName: text(30),
      carriersName: text(30),
      filingType: text(16),
    };
    return { id: `f${i}`, previous: new StoredState(text(400)), next, details, event };
  });
  const head = { position: 1, timeline: 't' };
  return { account, generation: 'g', head, at: 1, commits: commits as unknown as CommitBatch['commits'] };
}

test('commits of small events are remembered up to the same bound', async () => {
  const journal = createCommitJournal(redis.connect(), createKeys(redis.prefix));
  const before = await usedBytes();
  for (let i = 0; i < 500; i += 1) await journal.note(pageOf('a'));
  expect(((await usedBytes()) - before) / mebibyte).toBeLessThan(40);
  expect(journal.ownBehind('a', 'g', 0).length).toBeGreaterThan(100);
});

test('the commits of many accounts are remembered up to their bound, and the head of each', async () => {
  const journal = createCommitJournal(redis.connect(), createKeys(redis.prefix));
  const before = await usedBytes();
  for (let i = 0; i < 100; i += 1) await journal.note(batchOf(`a${i}`));
  expect(((await usedBytes()) - before) / mebibyte).toBeLessThan(40);
  expect(journal.ownBehind('a0', 'g', 0)).toEqual([]);
  expect(journal.ownBehind('a99', 'g', 0)).toHaveLength(1);
  expect(journal.newest('a0', 'g')).toEqual({ position: 1, timeline: 't' });
});
