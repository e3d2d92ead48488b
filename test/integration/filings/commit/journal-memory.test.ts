import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { createCommitJournal, type CommitBatch } from '../../../../src/filings/commit/commit-journal.ts';
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

test('the commits of many accounts are remembered up to their bound, and the head of each', async () => {
  const journal = createCommitJournal(redis.connect(), createKeys(redis.prefix));
  const before = await usedBytes();
  for (let i = 0; i < 100; i += 1) await journal.note(batchOf(`a${i}`));
  expect(((await usedBytes()) - before) / mebibyte).toBeLessThan(40);
  expect(journal.ownBehind('a0', 'g', 0)).toEqual([]);
  expect(journal.ownBehind('a99', 'g', 0)).toHaveLength(1);
  expect(journal.newest('a0', 'g')).toEqual({ position: 1, timeline: 't' });
});
