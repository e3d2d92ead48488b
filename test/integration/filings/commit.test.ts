import { afterAll, expect, onTestFinished, test } from 'vitest';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import type { FilingState } from '../../../src/filings/detection/filing-state.ts';
import { SnapshotLostError } from '../../../src/filings/commit/commit-writer.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createRedisConnections } from '../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { startTcpProxy } from '../../support/connections/tcp-proxy.ts';

const redis = testRedis();
const keys = createKeys(redis.prefix);
afterAll(() => redis.cleanup());

const next: FilingState = {
  status: 'PAID',
  completedAt: null,
  rejectionReason: null,
  sequence: 1,
  since: 1,
  readFrom: 1,
  readAt: 1,
  removed: false,
};

const event = buildFilingEvent({
  account: 'acme',
  generation: 'g',
  filingId: 'f',
  type: 'filing.created',
  sequence: 1,
  before: null,
  after: next,
  changed: ['status'],
  inferred: false,
  notBefore: 1,
  notAfter: 1,
  document: null,
});

test('a commit whose reply is lost has written the state and its event, and is in conflict when it is tried again', async () => {
  const proxy = await startTcpProxy(Number(new URL(redis.url).port));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const connections = createRedisConnections(`redis://127.0.0.1:${proxy.port}`, {
    connectionName: 'test',
    onStateChange: () => undefined,
  });
  onTestFinished(() => connections.close());
  const { generation } = await createPollingStore(redis.connect(), keys).begin('acme', '');
  await connections.untilReady(5_000);
  const snapshot = createSnapshotStore(connections.command(), keys);
  const commits = [{ id: 'f', previous: null, next, details: null, event }];

  // Known to the server, so that one command is all there is to a commit.
  await snapshot.commit(
    'acme',
    generation,
    [{ id: 'first', previous: null, next, details: null, event: null }],
    1,
  );
  proxy.mode = 'cut-at-reply';
  await expect(snapshot.commit('acme', generation, commits, 1)).rejects.toThrow(/max retries/);
  proxy.mode = 'pass';
  await connections.untilReady(5_000);

  expect((await snapshot.read('acme', ['f']))[0]?.state).toEqual(next);
  const log = await createEventLog(redis.connect(), keys).readAfter('acme', logBeginning, 10);
  expect(log.entries.map(({ id, position }) => [id, position])).toEqual([[event.id, 1]]);
  expect(await snapshot.commit('acme', generation, commits, 1)).toEqual([{ kind: 'conflict' }]);
});

test('a commit decided on a snapshot that was emptied meanwhile writes nothing', async () => {
  const client = redis.connect();
  const polling = createPollingStore(client, keys);
  const snapshot = createSnapshotStore(client, keys);
  const { generation } = await polling.begin('emptied', '');
  await storedAccount(client, keys.account('emptied')).dropPolling();
  await polling.begin('emptied', '');
  const commit = { id: 'f', previous: null, next, details: null, event };
  await expect(snapshot.commit('emptied', generation, [commit], 1)).rejects.toThrow(SnapshotLostError);
  expect(await snapshot.read('emptied', ['f'])).toEqual([null]);
  expect((await createEventLog(client, keys).head('emptied')).position).toBe(0);
});

test('many states are read as few are, whatever the ids hold', async () => {
  const { generation } = await createPollingStore(redis.connect(), keys).begin('many', '');
  const snapshot = createSnapshotStore(redis.connect(), keys);
  const ids = [...Array.from({ length: 30 }, (_, i) => `f${i}`), ' ', '\u0000', 'é𝒳', '"', '%s'];
  const commits = ids.map((id, sequence) => ({
    id,
    previous: null,
    next: { ...next, sequence, rejectionReason: `of ${id}\n` },
    details: null,
    event: null,
  }));
  await snapshot.commit('many', generation, commits, 1);
  const expected = commits.map((commit) => commit.next);
  const statesOf = async (asked: readonly string[]) =>
    (await snapshot.read('many', asked)).map((stored) => stored?.state ?? null);

  expect(await statesOf(ids)).toEqual(expected);
  expect(await statesOf(['unknown', ...ids, 'f7', 'unknown'])).toEqual([
    null,
    ...expected,
    expected[7],
    null,
  ]);
  expect(await statesOf(['un\nknown', ...ids, '\n'])).toEqual([null, ...expected, null]);
  for (const [i, id] of ids.entries()) expect(await statesOf([id])).toEqual([expected[i]]);
  const more = Array.from({ length: 20_000 }, (_, i) => `more${i}`);
  expect((await statesOf([...more, 'f7'])).at(-1)).toEqual(expected[7]);
  expect(await statesOf(Array.from({ length: 20 }, () => 'unknown'))).toEqual(
    Array.from({ length: 20 }, () => null),
  );
});
