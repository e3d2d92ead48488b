import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { FilingWebhooksTrigger } from '../dist/nodes/FilingWebhooks/FilingWebhooksTrigger.node.js';
import { openApi } from '../../../test/support/api/api-caller.ts';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { functionsFor, type Run } from './support/n8n-functions.mts';
import { startWebhookServer } from './support/webhook-server.mts';

const { checkExists, create, delete: unpublish } = new FilingWebhooksTrigger().webhookMethods.default;
const { getEventTypes, getStatuses } = new FilingWebhooksTrigger().methods.loadOptions;
let stage: Stage;
// The token of n8n: it manages the subscriptions that it made, and no others.
let token: string;

before(async () => {
  stage = await startStage();
  const made = await stage.api.ok<{ token: string }>('POST', `/v1/accounts/${stage.account}/tokens`, {
    name: 'n8n',
    subscriptions: 'own',
  });
  token = made.token;
});
after(async () => stage?.[Symbol.asyncDispose]());

function runOf(more: Partial<Run> = {}): Run & { staticData: IDataObject } {
  return {
    credentials: { baseUrl: `${stage.url}/`, token, account: stage.account },
    parameters: { eventTypes: ['filing.*'], statuses: ['REJECTED'], acknowledge: 'onReceived', options: {} },
    webhookUrl: 'http://127.0.0.1:4999/webhook/1/filing-webhooks',
    staticData: {},
    ...more,
  } as Run & { staticData: IDataObject };
}

async function subscriptions(): Promise<IDataObject[]> {
  return (await stage.api.ok<{ items: IDataObject[] }>('GET', `/v1/accounts/${stage.account}/subscriptions`))
    .items;
}

/** Puts the trigger into service, as n8n does when a workflow is published or n8n starts. */
async function activate(run: Run): Promise<void> {
  if (!(await checkExists.call(functionsFor(run)))) await create.call(functionsFor(run));
}

/** Takes the trigger out of service for good. */
async function remove(run: Run): Promise<void> {
  const options = { ...(run.parameters['options'] as object), unpublished: 'remove' };
  await unpublish.call(functionsFor({ ...run, parameters: { ...run.parameters, options } }));
}

test('a subscription is registered, found again, changed in its place and removed', async () => {
  const run = runOf({
    parameters: {
      eventTypes: ['filing.rejected'],
      statuses: [],
      acknowledge: 'lastNode',
      options: { states: 'tx, CA', filter: ' filing.premium > 1 ', payload: 'thin', maxInFlight: 1 },
    },
  });
  await activate(run);
  const [made] = await subscriptions();
  assert.deepEqual(made?.['states'], ['TX', 'CA']);
  assert.equal(made?.['filter'], 'filing.premium > 1');
  assert.equal(made?.['payload'], 'thin');
  assert.equal(made?.['maxInFlight'], 1);
  assert.equal(made?.['timeoutMs'], 55_000);
  assert.equal(made?.['description'], 'n8n: Rejections (Filing Webhooks Trigger)');

  await activate({ ...runOf(), staticData: run.staticData });
  const [changed, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  assert.equal(changed?.['id'], made?.['id']);
  assert.deepEqual(
    [changed?.['states'], changed?.['statuses'], changed?.['filter']],
    [null, ['REJECTED'], null],
  );
  assert.deepEqual([changed?.['payload'], changed?.['timeoutMs']], ['full', null]);

  await remove(run);
  assert.deepEqual(await subscriptions(), []);
  assert.deepEqual(run.staticData, {});
  await remove(run);
});

test('a trigger that is unpublished or changed keeps its place, and gets what was missed', async () => {
  const run = runOf({ workflowId: 'unpublished' });
  await using server = await startWebhookServer(run);
  const published = { ...run, webhookUrl: server.url };
  await activate(published);
  const [made] = await subscriptions();
  await unpublish.call(functionsFor(published));
  const [left] = await subscriptions();
  assert.deepEqual([left?.['id'], left?.['enabled']], [made?.['id'], false]);
  assert.ok(Date.parse(String(left?.['expiresAt'])) > Date.now());
  await stage.sandbox.set('f_unpublished', { status: 'REJECTED', rejectionReason: 'Meanwhile' });
  await until('the event', async () => Number((await subscriptions())[0]?.['lag']) > 0);

  // A start of n8n finishes a publication that its end interrupted.
  await activate({ ...published, activation: 'init' });
  const [again, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  assert.deepEqual([again?.['id'], again?.['enabled'], again?.['expiresAt']], [made?.['id'], true, null]);
  await until('the execution', () => server.executions.length === 1);
  await remove(published);
  assert.deepEqual(await subscriptions(), []);
});

test('a subscription that is gone is made anew, and one to a former address of n8n follows it', async () => {
  const run = runOf();
  await activate(run);
  const [first] = await subscriptions();
  await stage.api.ok('DELETE', `/v1/accounts/${stage.account}/subscriptions/${String(first?.['id'])}`);
  await activate(run);
  const [second] = await subscriptions();
  assert.notEqual(second?.['id'], first?.['id']);
  const moved = { ...run, webhookUrl: 'http://127.0.0.1:4999/moved/1/filing-webhooks' };
  await activate(moved);
  assert.deepEqual(
    (await subscriptions()).map(({ id, url }) => [id, url]),
    [[second?.['id'], moved.webhookUrl]],
  );
  await remove(moved);
});

test('a subscription that listens for a test event expires by itself, and others do not', async () => {
  const run = runOf();
  await activate(run);
  assert.equal((await subscriptions())[0]?.['expiresAt'], null);
  await remove(run);

  const testing = runOf({
    mode: 'manual',
    webhookUrl: 'http://127.0.0.1:4999/webhook-test/1/filing-webhooks',
  });
  await activate(testing);
  const [made] = await subscriptions();
  const minutes = (Date.parse(String(made?.['expiresAt'])) - Date.now()) / 60_000;
  assert.ok(minutes > 5 && minutes <= 10, `it expires in ${minutes} minutes`);
  const path = `/v1/accounts/${stage.account}/subscriptions/${String(made?.['id'])}`;
  await stage.api.ok('PATCH', path, { expiresAt: new Date(Date.now() + 300).toISOString() });
  await until('the expiry', async () => (await subscriptions())[0]?.['disabledReason'] === 'expired');
  await activate(testing);
  const [renewed, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  assert.deepEqual([renewed?.['id'], renewed?.['enabled']], [made?.['id'], true]);
  await unpublish.call(functionsFor(testing));
});

test('a disabled subscription is enabled by a person who publishes, not by a start of n8n', async () => {
  const run = runOf();
  await activate(run);
  const path = `/v1/accounts/${stage.account}/subscriptions/${String((await subscriptions())[0]?.['id'])}`;
  await stage.api.ok('PATCH', path, { enabled: false });
  const starting = functionsFor({ ...run, activation: 'init' });
  assert.equal(await checkExists.call(starting), true);
  assert.match(starting.warnings.join(), /stays disabled/);
  assert.equal((await subscriptions())[0]?.['enabled'], false);
  await activate(run);
  assert.equal((await subscriptions())[0]?.['enabled'], true);
  await remove(run);
});

test('a start of n8n while the daemon is away counts the subscription as there; a publication says what is wrong', async () => {
  const run = runOf();
  await activate(run);
  const away = { ...run, credentials: { ...run.credentials, baseUrl: 'http://127.0.0.1:9' } };
  const starting = functionsFor({ ...away, activation: 'init' });
  assert.equal(await checkExists.call(starting), true);
  assert.match(starting.warnings.join(), /does not answer at http:\/\/127\.0\.0\.1:9/);
  await assert.rejects(checkExists.call(functionsFor(away)), /does not answer at/);
  const wrong = { ...run, credentials: { ...run.credentials, token: 'another-token-of-24-letters' } };
  await assert.rejects(checkExists.call(functionsFor(wrong)), (error: { description?: string }) =>
    /enter a new one/.test(error.description ?? ''),
  );
  await remove(run);
});

test('refused settings are shown with the words of the daemon', async () => {
  const run = runOf({
    parameters: { eventTypes: ['filing.*'], statuses: [], options: { filter: 'filing.premium >' } },
  });
  await assert.rejects(activate(run), (error: Error & { httpCode?: string }) => {
    assert.match(error.message, /filter/);
    return error.httpCode === '422';
  });
  assert.deepEqual(run.staticData, {});
});

test('the choices of the editor are those of the daemon', async () => {
  const types = await getEventTypes.call(functionsFor(runOf()));
  const values = types.map(({ value }) => value);
  assert.ok(values.includes('filing.*') && values.includes('filing.rejected') && !values.includes('ping'));
  const statuses = await getStatuses.call(functionsFor(runOf()));
  assert.ok(statuses.some(({ value }) => value === 'REJECTED'));
});

test('callbacks of the daemon start one execution each; forged, repeated and unacknowledged ones do as they should', async () => {
  const run = runOf({ parameters: { eventTypes: ['filing.*'], statuses: [], options: {} } });
  await using server = await startWebhookServer(run);
  await activate({ ...run, webhookUrl: server.url });
  const { id, secret } = run.staticData['subscription'] as { id: string; secret: string };
  const path = `/v1/accounts/${stage.account}/subscriptions/${id}`;
  const lag = async () => (await stage.api.ok<{ lag: number }>('GET', path)).lag;
  const executions = (count: number) =>
    until(`${count} executions`, async () => server.executions.length === count && (await lag()) === 0);

  const outcome = await stage.api.ok<{ outcome: string }>('POST', `${path}/test`);
  assert.equal(server.answers.at(-1), 200, JSON.stringify(outcome));
  assert.deepEqual(server.executions, []);

  server.executionStatus = 500;
  await stage.sandbox.set('f_1', { status: 'PENDING' });
  await until('a second attempt', () => server.executions.length >= 2);
  server.executionStatus = 200;
  await until('an acknowledgement', async () => (await lag()) === 0);
  const tries = server.executions.splice(0);
  assert.equal(new Set(tries.map((event) => event['id'])).size, 1);
  assert.equal(tries[0]?.['stale'], false);
  assert.deepEqual(
    tries.map((event) => event['attempt']),
    tries.map((_, i) => i + 1),
  );

  await stage.sandbox.set('f_1', { status: 'REJECTED', rejectionReason: 'No signature' });
  await executions(1);
  const [event] = server.executions;
  assert.equal(event?.['type'], 'filing.rejected');
  assert.equal((event?.['data'] as IDataObject)['rejectionReason'], 'No signature');

  const replay = async () => {
    const { id: replayId } = await stage.api.ok<{ id: string }>('POST', `${path}/replay`, {
      filingId: 'f_1',
    });
    await until('the replay', async () => {
      const { state } = await stage.api.ok('GET', `/v1/accounts/${stage.account}/replays/${replayId}`);
      return state === 'finished';
    });
  };
  await replay();
  assert.equal(server.executions.length, 1);
  // Another process of n8n asks the daemon: not even the static data of the last callback has to be there.
  delete run.staticData['sequences'];
  server.restart();
  await replay();
  assert.equal(server.executions.length, 1);

  const forge = (key: string, at = Date.now()) => {
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(at / 1000));
    const hash = createHmac('sha256', Buffer.from(key.slice(6), 'base64'));
    return fetch(server.url, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': 'evt_new',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${hash.update(`evt_new.${timestamp}.${body}`).digest('base64')}`,
      },
    });
  };
  assert.equal((await forge(`whsec_${Buffer.alloc(32, 3).toString('base64')}`)).status, 401);
  assert.equal((await forge(secret, Date.now() - 400_000)).status, 401);
  assert.equal(server.executions.length, 1);
  assert.equal((await forge(secret)).status, 200);
  assert.equal(server.executions.length, 2);
  await remove(run);
});

test('a subscription that n8n has forgotten is taken over with a new secret, and delivers what it owes', async () => {
  const run = runOf();
  await using server = await startWebhookServer({ ...run, workflowId: 'forgotten' });
  const owner = openApi(stage.url, token);
  const before = await owner.ok<{ id: string }>('POST', `/v1/accounts/${stage.account}/subscriptions`, {
    url: server.url,
    enabled: false,
  });
  await stage.sandbox.set('f_2', { status: 'REJECTED', rejectionReason: 'Owed' });
  await until('the event', async () => Number((await subscriptions())[0]?.['lag']) > 0);
  await activate({ ...run, webhookUrl: server.url });
  assert.equal((run.staticData['subscription'] as { id: string }).id, before.id);
  await until('the execution', () => server.executions.length === 1);
  await remove(run);
});

test('stale events say so, or are dropped where the user wants that', async () => {
  for (const stale of ['run', 'drop']) {
    const run = runOf({
      parameters: { eventTypes: ['filing.*'], statuses: [], options: { stale, repeats: 'run' } },
    });
    await using server = await startWebhookServer({ ...run, workflowId: `stale-${stale}` });
    await activate({ ...run, webhookUrl: server.url });
    const { id } = run.staticData['subscription'] as { id: string };
    const filing = `f_stale_${stale}`;
    await stage.sandbox.set(filing, { status: 'PENDING' });
    await until('the first event', () => server.executions.length === 1);
    await stage.sandbox.set(filing, { status: 'REJECTED' });
    await until('the second event', () => server.executions.length === 2);
    const path = `/v1/accounts/${stage.account}/subscriptions/${id}`;
    const eventIds = [String(server.executions[0]?.['id'])];
    const replay = await stage.api.ok<{ id: string }>('POST', `${path}/replay`, { eventIds });
    await until('the replay', async () => {
      const { state } = await stage.api.ok('GET', `/v1/accounts/${stage.account}/replays/${replay.id}`);
      return state === 'finished';
    });
    assert.deepEqual(
      server.executions.map((event) => event['stale']),
      stale === 'run' ? [false, false, true] : [false, false],
    );
    await remove(run);
  }
});
