import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { FilingWebhooks } from '../dist/nodes/FilingWebhooks/FilingWebhooks.node.js';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { functionsFor, type Run } from './support/n8n-functions.mts';

const node = new FilingWebhooks();
let stage: Stage;

before(async () => {
  stage = await startStage();
  await stage.sandbox.seed(150);
  for (const id of ['f_a', 'f_b', 'f_c'])
    await stage.sandbox.set(id, {
      status: 'REJECTED',
      rejectionReason: 'No signature',
      policyNumber: `GL-${id}`,
    });
  await until('the events', async () => {
    const { counts } = await stage.api.ok<{ counts: IDataObject }>('GET', `/v1/accounts/${stage.account}`);
    return Object.values(counts).reduce<number>((sum, count) => sum + Number(count), 0) >= 153;
  });
});
after(async () => stage?.[Symbol.asyncDispose]());

async function execute(parameters: Record<string, unknown>, more: Partial<Run> = {}): Promise<IDataObject[]> {
  const credentials = { baseUrl: stage.url, token: stage.token, account: stage.account };
  const [items = []] = await node.execute.call(functionsFor({ credentials, parameters, ...more }));
  for (const { pairedItem } of items) assert.deepEqual(pairedItem, { item: 0 });
  return items.map(({ json }) => json);
}

test('every operation of the fields is there, and none besides', async () => {
  const { operations } = await import('../dist/nodes/FilingWebhooks/operations.js');
  const offered = node.description.properties
    .filter(({ name }) => name === 'operation')
    .flatMap(({ displayOptions, options = [] }) =>
      options.map(
        (option) =>
          `${String(displayOptions?.show?.['resource'])} ${String((option as { value: string }).value)}`,
      ),
    );
  const there = Object.entries(operations).flatMap(([resource, of]) =>
    Object.keys(of).map((name) => `${resource} ${name}`),
  );
  assert.deepEqual(offered.toSorted(), there.toSorted());
});

test('filings: one, many over several pages, filtered and searched', async () => {
  const [one] = await execute({ resource: 'filing', operation: 'get', filingId: 'f_a' });
  assert.equal(one?.['status'], 'REJECTED');
  const list = { resource: 'filing', operation: 'getAll', returnAll: false, limit: 120, filters: {} };
  assert.equal((await execute(list)).length, 120);
  const all = await execute({ ...list, returnAll: true });
  assert.ok(all.length >= 153);
  assert.equal(new Set(all.map(({ filingId }) => filingId)).size, all.length);
  const rejected = await execute({
    ...list,
    returnAll: true,
    filters: { statuses: ['REJECTED'], order: 'oldest' },
  });
  assert.ok(rejected.length >= 3 && rejected.every(({ status }) => status === 'REJECTED'));
  const found = await execute({ ...list, operation: 'search', query: 'gl-f_b' });
  assert.deepEqual(
    found.map(({ filingId }) => filingId),
    ['f_b'],
  );
});

test('events: the newest first, of a filing, of a time, and one by its id', async () => {
  const list = { resource: 'event', operation: 'getAll', returnAll: false, limit: 2, order: 'newest' };
  const newest = await execute({ ...list, filters: {} });
  assert.equal(newest.length, 2);
  const ofFiling = await execute({
    ...list,
    filters: { filingId: 'f_a', types: ['filing.created'], after: '2026-01-01' },
  });
  assert.equal(ofFiling.length, 1);
  assert.deepEqual(await execute({ ...list, filters: { before: '2020-01-01T00:00:00Z' } }), []);
  const [event] = await execute({
    resource: 'event',
    operation: 'get',
    eventId: String(ofFiling[0]?.['id']),
  });
  assert.deepEqual(event?.['data'], ofFiling[0]?.['data']);
});

test('rejections: the board, its summary, and who has seen one', async () => {
  const list = { resource: 'rejection', operation: 'getAll', returnAll: true, order: 'oldest' };
  const all = await execute({ ...list, filters: { reason: 'No signature' } });
  assert.equal(all.length, 3);
  const [summary] = await execute({ resource: 'rejection', operation: 'getSummary' });
  assert.ok(
    (summary?.['byReason'] as IDataObject[]).some(
      ({ reason, count }) => reason === 'No signature' && count === 3,
    ),
  );
  const seen = {
    resource: 'rejection',
    operation: 'markSeen',
    filingId: 'f_a',
    by: 'Ada',
    note: 'asked for it',
  };
  assert.deepEqual(((await execute(seen))[0]?.['seen'] as IDataObject)['note'], 'asked for it');
  const marked = await execute({ ...list, filters: { seen: 'true' } });
  assert.deepEqual(
    marked.map(({ filingId }) => filingId),
    ['f_a'],
  );
  await execute({ resource: 'rejection', operation: 'markUnseen', filingId: 'f_a' });
  assert.deepEqual(await execute({ ...list, filters: { seen: 'true' } }), []);
});

test('subscriptions: those there are, a replay counted, begun and followed, switched on and off', async () => {
  const { id } = await stage.api.ok<{ id: string }>('POST', `/v1/accounts/${stage.account}/subscriptions`, {
    url: 'http://127.0.0.1:4999/nobody',
    description: 'n8n: a test',
    enabled: false,
  });
  const options = await node.methods.loadOptions.getSubscriptions.call(
    functionsFor({
      parameters: {},
      credentials: { baseUrl: stage.url, token: stage.token, account: stage.account },
    }),
  );
  assert.deepEqual(options, [{ name: 'n8n: a test (disabled)', value: id }]);
  const all = await execute({ resource: 'subscription', operation: 'getAll', returnAll: false, limit: 5 });
  assert.deepEqual(
    all.map((one) => one['id']),
    [id],
  );
  const events = await execute({
    resource: 'event',
    operation: 'getAll',
    returnAll: true,
    order: 'oldest',
    filters: { filingId: 'f_b' },
  });
  const replay = {
    resource: 'subscription',
    operation: 'replay',
    subscriptionId: id,
    conditions: { filingId: 'f_b' },
  };
  const [counted] = await execute({ ...replay, dryRun: true });
  assert.deepEqual(counted, { matched: events.length });
  const eventIds = events.map((event) => event['id']).join(', ');
  const [begun] = await execute({ ...replay, conditions: { eventIds }, dryRun: false });
  assert.equal(begun?.['matched'], events.length);
  const [progress] = await execute({
    resource: 'subscription',
    operation: 'getReplay',
    replayId: begun?.['id'],
  });
  assert.equal(progress?.['state'], 'running');

  for (const [operation, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const [one] = await execute({ resource: 'subscription', operation, subscriptionId: id });
    assert.equal(one?.['enabled'], enabled);
  }
});

test('a failure says what the daemon says, and goes on where the user wants that', async () => {
  const missing = { resource: 'filing', operation: 'get', filingId: 'f_missing' };
  await assert.rejects(execute(missing), (error: Error & { description?: string }) => {
    assert.match(error.message, /filing/i);
    return (error.description ?? '').includes('a token sees only its own account');
  });
  const [failed] = await execute(missing, { continueOnFail: true });
  assert.match(String(failed?.['error']), /filing/i);
});
