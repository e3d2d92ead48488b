import { expect, onTestFinished, test } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { buildFilingEvent } from '../../../../src/events/event.ts';
import { createCommitJournal } from '../../../../src/filings/commit/commit-journal.ts';
import type { FilingState } from '../../../../src/filings/detection/filing-state.ts';
import type { Restoration } from '../../../../src/filings/restore-commits.ts';
import { createSnapshotStore } from '../../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../../src/polling/store/polling-store.ts';
import { startCluster } from '../../../support/redis/topologies.ts';
import { startPrivateRedis } from '../../../support/redis/test-redis.ts';

const keys = createKeys('announced');

function commitOf(id: string, sequence: number, status: string, previous: FilingState | null) {
  const times = { since: 1, readFrom: 1, readAt: 1 };
  const next: FilingState = {
    status,
    completedAt: null,
    rejectionReason: null,
    sequence,
    ...times,
    removed: false,
  };
  const event = buildFilingEvent({
    account: 'acme',
    generation: 'g',
    filingId: id,
    type: 'filing.paid',
    sequence,
    before: previous,
    after: next,
    changed: ['status'],
    inferred: false,
    notBefore: 1,
    notAfter: 1,
    document: null,
  });
  return { id, previous: null, next, details: null, event };
}

// A process with one filing in its log, and the next process after it.
async function startTwo(url: string) {
  const connections = createRedisConnections(url, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  onTestFinished(() => connections.close());
  await connections.untilReady(10_000);
  const redis = connections.command();
  const { generation } = await createPollingStore(redis, keys).begin('acme', '');
  const restored: Restoration[] = [];
  const journal = createCommitJournal(redis, keys);
  const first = createSnapshotStore(redis, keys, { journal });
  const second = createSnapshotStore(redis, keys, {
    onRestored: async (restoration) => void restored.push(restoration),
  });
  await first.commit('acme', generation, [commitOf('f', 1, 'PAID', null)], 1);
  return { generation, journal, first, second, restored };
}

test('in a cluster, an event that a process announced and may have delivered before it was killed keeps its sequence', async () => {
  await using cluster = await startCluster();
  const { generation, journal, second, restored } = await startTwo(cluster.url);
  const lost = commitOf('f', 2, 'REJECTED', null);

  await journal.announce({ account: 'acme', generation, commits: [lost] });
  await second.catchUp('acme', generation, 2);

  expect(restored).toEqual([{ account: 'acme', restored: 0, restated: ['f'] }]);
  const [state] = await second.read('acme', ['f']);
  expect(state?.state).toMatchObject({ status: 'PAID', sequence: 2, restate: true });

  await second.catchUp('acme', generation, 3);
  expect(restored).toHaveLength(1);
});

test('in a cluster, what was announced and written is left alone', async () => {
  await using cluster = await startCluster();
  const { generation, journal, first, second, restored } = await startTwo(cluster.url);
  await journal.announce({ account: 'acme', generation, commits: [commitOf('f', 1, 'PAID', null)] });
  await second.catchUp('acme', generation, 2);
  const [before] = await first.read('acme', ['f']);
  expect(before?.state).toMatchObject({ status: 'PAID', sequence: 1 });
  // One that was refused is decided, too.
  expect(await first.commit('acme', generation, [commitOf('f', 1, 'UNPAID', null)], 2)).toEqual([
    { kind: 'conflict' },
  ]);
  await second.catchUp('acme', generation, 3);
  expect(restored).toEqual([]);
});

test('where Redis is one server, nothing is announced', async () => {
  await using redis = await startPrivateRedis({});
  const { generation, journal, second, restored } = await startTwo(redis.url);
  await journal.announce({ account: 'acme', generation, commits: [commitOf('f', 2, 'REJECTED', null)] });
  await second.catchUp('acme', generation, 2);
  expect(restored).toEqual([]);
});
