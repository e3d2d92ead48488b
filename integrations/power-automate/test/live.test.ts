import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { importConnector } from './emulator/definition.ts';
import { startPowerAutomate, type Flow, type PowerAutomate } from './emulator/power-automate.ts';

// The connector between the service, which reads nothing but the connector's files, and a real daemon.
let stage: Stage;
let service: PowerAutomate;
const cleanup = new AsyncDisposableStack();
const account = 'default';

before(async () => {
  stage = cleanup.use(await startStage((url) => ({ PUBLIC_URL: url, DELIVERY_DISABLE_AFTER_MS: '1500' })));
  service = await connect({ subscriptions: 'own' });
});

after(() => cleanup.disposeAsync());

// The service with a connection of its own, whose token has these settings.
async function connect(settings: object): Promise<PowerAutomate> {
  const { token } = await stage.api.ok<{ token: string }>('POST', `/v1/accounts/${account}/tokens`, {
    name: 'Power Automate',
    ...settings,
  });
  const connection = { address: stage.url, api_key: `Bearer ${token}` };
  return cleanup.use(await startPowerAutomate(importConnector(), connection));
}

interface Event {
  readonly type: string;
  readonly data: { readonly filingId: string; readonly status: string; readonly rejectionReason: string };
}

interface Page<T> {
  readonly items: readonly T[];
}

const bodies = (flow: Flow) => flow.runs.map(({ body }) => body as Event);
const ids = (flow: Flow) => bodies(flow).map(({ data }) => data.filingId);
const pathOf = (flow: Flow) => new URL(flow.location).pathname;
const idOf = (flow: Flow) => pathOf(flow).split('/').at(-1) ?? '';

// Waits until a flow has run for a filing; throws at once what its trigger refuses.
const ran = (flow: Flow, id: string) =>
  until(`a run for ${id}`, () => {
    assert.deepEqual(flow.complaints, []);
    return ids(flow).includes(id);
  });

interface Subscription {
  readonly description: string;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly lag: number;
}

const subscription = (flow: Flow) => stage.api.ok<Subscription>('GET', pathOf(flow));

const reject = (id: string, fields: object = {}) =>
  stage.sandbox.set(id, { status: 'REJECTED', rejectionReason: 'The affidavit is not signed.', ...fields });

test('a rejection runs a flow once, and a flow that is switched off no more', async () => {
  const flow = await service.turnOn('WhenAFilingIsRejected', {
    account,
    body: { description: 'Tell the broker' },
  });
  const witness = await service.turnOn('WhenAFilingChanges', { account });
  assert.equal((await subscription(flow)).description, 'Tell the broker');

  await stage.sandbox.set('f_once', { status: 'PENDING' });
  await ran(witness, 'f_once');
  await reject('f_once');
  await ran(flow, 'f_once');
  assert.deepEqual(
    bodies(flow).map(({ type, data }) => [type, data.status, data.rejectionReason]),
    [['filing.rejected', 'REJECTED', 'The affidavit is not signed.']],
  );

  await flow.turnOff();
  assert.equal((await stage.api.call('GET', pathOf(flow))).status, 404);
  await reject('f_later');
  await ran(witness, 'f_later');
  assert.deepEqual(ids(flow), ['f_once']);
  assert.deepEqual([...flow.complaints, ...witness.complaints], []);
  await witness.turnOff();
});

test('the answer 202 of a flow acknowledges an event: one attempt, delivered', async () => {
  const flow = await service.turnOn('WhenAFilingIsRejected', { account });
  await reject('f_accepted');
  await ran(flow, 'f_accepted');
  await until('the acknowledgement', async () => (await subscription(flow)).lag === 0);
  const { items } = await stage.api.ok<Page<{ outcome: string; statusCode: number }>>(
    'GET',
    `${pathOf(flow)}/attempts`,
  );
  assert.deepEqual(
    items.map(({ outcome, statusCode }) => [outcome, statusCode]),
    [['delivered', 202]],
  );
  await flow.turnOff();
});

test('a flow gets what its form asks for: types, statuses, states and a filter', async () => {
  const body = {
    eventTypes: ['filing.created', 'filing.rejected'],
    statuses: ['REJECTED'],
    states: ['TX'],
    filter: 'filing.premium > 1000',
    payload: 'full',
  };
  const [chosen, all] = await Promise.all([
    service.turnOn('WhenAFilingChanges', { account, body }),
    service.turnOn('WhenAFilingChanges', { account }),
  ]);
  const [texas, florida] = ['TX', 'FL'].map((stateAbbr) => ({ filingState: { name: stateAbbr, stateAbbr } }));
  await reject('f_cheap', { ...texas, premium: 10 });
  await reject('f_elsewhere', { ...florida, premium: 5000 });
  await stage.sandbox.set('f_paid', { ...texas, premium: 5000, status: 'PAID' });
  for (const id of ['f_cheap', 'f_elsewhere', 'f_paid']) await ran(all, id);
  await reject('f_wanted', { ...texas, premium: 5000 });
  await ran(chosen, 'f_wanted');
  assert.deepEqual(ids(chosen), ['f_wanted']);
  assert.deepEqual([...chosen.complaints, ...all.complaints], []);
  await Promise.all([chosen.turnOff(), all.turnOff()]);
});

test('the trigger of rejections leaves out that a rejected filing is removed', async () => {
  const [flow, all] = await Promise.all([
    service.turnOn('WhenAFilingIsRejected', { account }),
    service.turnOn('WhenAFilingChanges', { account, body: { eventTypes: ['filing.removed'] } }),
  ]);
  await reject('f_gone');
  await ran(flow, 'f_gone');
  await stage.sandbox.forget('f_gone');
  await ran(all, 'f_gone');
  await reject('f_after');
  await ran(flow, 'f_after');
  assert.deepEqual(ids(flow), ['f_gone', 'f_after']);
  assert.deepEqual(all.complaints, []);
  await Promise.all([flow.turnOff(), all.turnOff()]);
});

test('notifications carry the shared secret, which a condition of the trigger can ask for', async () => {
  const body = { headers: { 'x-flow-secret': 'a long random text' } };
  const flow = await service.turnOn('WhenAFilingIsRejected', { account, body });
  await reject('f_secret');
  await ran(flow, 'f_secret');
  assert.equal(flow.runs[0]?.headers['x-flow-secret'], 'a long random text');
  assert.match(String(flow.runs[0]?.headers['webhook-id']), /^evt_/);
  await flow.turnOff();
});

test('a flow that answers 410 ends its subscription; one that answers 404 after the time of its failures', async () => {
  const [gone, missing] = await Promise.all([
    service.turnOn('WhenAFilingIsRejected', { account }),
    service.turnOn('WhenAFilingIsRejected', { account }),
  ]);
  gone.answer(410);
  missing.answer(404);
  // Several filings, since the failures of one alone may be the event's fault.
  for (const id of ['f_nobody1', 'f_nobody2', 'f_nobody3']) await reject(id);
  const reasonOf = (flow: Flow) =>
    until('the end of the subscription', async () => {
      const { enabled, disabledReason } = await subscription(flow);
      return enabled ? null : disabledReason;
    });
  assert.equal(await reasonOf(gone), 'the endpoint answered 410 Gone');
  assert.match((await reasonOf(missing)) ?? '', /^no callback has succeeded since /);
  await Promise.all([gone.turnOff(), missing.turnOff()]);
});

test('a flow gets after a restart of the daemon what was rejected meanwhile', async () => {
  const flow = await service.turnOn('WhenAFilingIsRejected', { account });
  await stage.stop();
  await reject('f_meanwhile');
  await stage.restart();
  await ran(flow, 'f_meanwhile');
  assert.deepEqual(ids(flow), ['f_meanwhile']);
  await flow.turnOff();
});

test('each action does what it says, and its answer is as described', async () => {
  const flow = await service.turnOn('WhenAFilingIsRejected', { account, body: { description: 'Replayed' } });
  await reject('f_action', { policyNumber: 'SL-2031-ACTION', insuredsName: 'Blue Harbor Marine LLC' });
  await ran(flow, 'f_action');

  const access = (await service.run('GetAccess')) as { kind: string; account: string; readOnly: boolean };
  assert.deepEqual([access.kind, access.account, access.readOnly], ['account', account, false]);
  assert.deepEqual(await service.choices('ListFilings', 'account'), [{ value: account, title: account }]);

  const found = (await service.run('ListFilings', { account, q: 'blue action' })) as Page<{
    filingId: string;
  }>;
  assert.deepEqual(
    found.items.map(({ filingId }) => filingId),
    ['f_action'],
  );
  const filing = (await service.run('GetFiling', { account, filingId: 'f_action' })) as { events: Event[] };
  assert.equal(filing.events.at(-1)?.data.status, 'REJECTED');

  const board = (seen: string) =>
    service.run('ListRejections', { account, seen }) as Promise<Page<{ filingId: string }>>;
  assert.ok((await board('false')).items.some(({ filingId }) => filingId === 'f_action'));
  const body = { by: 'Dana Reyes', note: 'Asked the broker.' };
  const mark = { account, filingId: 'f_action', body };
  await assert.rejects(service.run('MarkFilingSeen', mark), /403/);
  await (await connect({})).run('MarkFilingSeen', mark);
  assert.deepEqual(
    (await board('true')).items.map(({ filingId }) => filingId),
    ['f_action'],
  );

  const events = (await service.run('ListEvents', {
    account,
    types: 'filing.*',
    filingId: 'f_action',
    order: 'newest',
    limit: 5,
  })) as Page<Event>;
  assert.deepEqual(
    events.items.map(({ data }) => data.filingId),
    ['f_action'],
  );

  const choices = await service.choices('ReplayEvents', 'id', { account });
  assert.deepEqual(
    choices.filter(({ title }) => title === 'Replayed'),
    [{ value: idOf(flow), title: 'Replayed' }],
  );
  const replay = await service.run('ReplayEvents', {
    account,
    id: idOf(flow),
    body: { filingId: 'f_action' },
  });
  assert.equal((replay as { matched: number }).matched, 1);
  await until('the second run', () => flow.runs.length === 2);
  const [first, second] = flow.runs;
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.deepEqual(flow.complaints, []);
  await flow.turnOff();
});
