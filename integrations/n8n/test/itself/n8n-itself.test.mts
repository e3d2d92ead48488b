import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openApi } from '../../../../test/support/api/api-caller.ts';
import { startStage, until, type Stage } from '../../../testing/stage.ts';
import { startN8n, type Execution, type N8n } from './n8n.mts';
import {
  addCredentials,
  changeTrigger,
  importWorkflow,
  publish,
  readExample,
  unpublish,
} from './workflows.mts';
import { n8nVersion } from './install-n8n.mts';
import { takePicture } from './take-picture.mts';

let stage: Stage;
let n8n: N8n;
let token: string;
let credentials: string;
let workflow: string;
let webhook: string;
// The file for a picture of the editor: `SCREENSHOT=docs/images/n8n-workflow.png npm run test:itself`.
const screenshot = process.env['SCREENSHOT'];
const trigger = 'A filing is rejected';
const figures: Record<string, unknown> = { n8n: n8nVersion };

before(async () => {
  stage = await startStage({ DELIVERY_RETRY_MS: '200,500,1000,2000,4000,8000,8000,8000' });
  n8n = await startN8n();
  const made = await stage.api.ok<{ token: string }>('POST', `/v1/accounts/${stage.account}/tokens`, {
    name: 'n8n',
    subscriptions: 'own',
  });
  token = made.token;
  credentials = await addCredentials(n8n, { url: stage.url, account: stage.account, token });
  workflow = await importWorkflow(n8n, readExample('rejections'), credentials);
});

after(async () => {
  figures['startsMs'] = n8n?.startsMs;
  console.log(`figures: ${JSON.stringify(figures)}`);
  await n8n?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

test('the credentials pass their test in n8n, and fail it with a wrong token', async () => {
  const check = async (token: string) =>
    n8n.rest<{ status: string; message: string }>('POST', '/credentials/test', {
      credentials: {
        id: credentials,
        name: 'Filing Webhooks',
        type: 'filingWebhooksApi',
        data: { baseUrl: `${stage.url}/`, token, account: stage.account },
      },
    });
  assert.equal((await check(token)).status, 'OK');
  assert.equal((await check('not-the-token-of-the-operator')).status, 'Error');
});

test('publishing the workflow registers one subscription with what the trigger says', async () => {
  const began = Date.now();
  await publish(n8n, workflow);
  await subscribed(1);
  figures['publishMs'] = Date.now() - began;
  const [subscription, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  webhook = String(subscription?.['url']);
  assert.match(webhook, new RegExp(`^${n8n.url}/webhook/`));
  assert.deepEqual(subscription?.['eventTypes'], ['filing.*']);
  assert.deepEqual(subscription?.['statuses'], ['REJECTED']);
  assert.equal(subscription?.['description'], `n8n: Rejected filings (${trigger})`);
});

test('one rejection is one execution with the event, and the next nodes read the filing', async () => {
  const began = Date.now();
  await stage.sandbox.set('f_one', { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' });
  const [execution] = await finished(1);
  figures['rejectionToFinishedExecutionMs'] = Date.now() - began;
  assert.equal(execution?.status, 'success');
  const [event] = await n8n.outputOf(execution?.id ?? '', trigger);
  const data = event?.['data'] as Record<string, unknown>;
  assert.equal(data['filingId'], 'f_one');
  assert.equal(data['status'], 'REJECTED');
  assert.equal(data['rejectionReason'], 'Affidavit is not signed');
  assert.deepEqual([event?.['attempt'], event?.['stale']], [1, false]);
  assert.match(String(event?.['id']), /^evt_/);
  const [message] = await n8n.outputOf(execution?.id ?? '', 'Write a message');
  assert.equal(message?.['text'], 'Affidavit is not signed');
  await delivered();
});

test('the editor shows the workflow with its execution', { skip: screenshot === undefined }, async () => {
  const [execution] = await n8n.executions(workflow);
  await takePicture(n8n, `/workflow/${workflow}/executions/${execution?.id}`, screenshot ?? '');
});

test('a forged callback is answered with 401 and starts nothing', async () => {
  const body = JSON.stringify({ type: 'filing.rejected', data: { filingId: 'f_forged', sequence: 1 } });
  const answer = await fetch(webhook, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'evt_forged',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32, 1).toString('base64')}`,
    },
    body,
  });
  assert.equal(answer.status, 401);
  assert.match(await answer.text(), /no signature matches/);
  const bare = await fetch(webhook, { method: 'POST', body });
  assert.equal(bare.status, 401);
  await noneBeyond(1);
});

test('a repeated event is acknowledged and starts nothing, also after a stop or a kill of n8n', async () => {
  for (const signal of [null, 'SIGTERM', 'SIGKILL'] as const) {
    if (signal !== null) {
      await n8n.stop(signal);
      await n8n.start();
    }
    await replayAll();
    await noneBeyond(1);
  }
});

async function replayAll(): Promise<void> {
  const [subscription] = await subscriptions();
  const path = `/v1/accounts/${stage.account}/subscriptions/${String(subscription?.['id'])}`;
  const replay = await stage.api.ok<{ id: string; matched: number }>('POST', `${path}/replay`, {});
  assert.equal(replay.matched, 1);
  await until('the end of the replay', async () => {
    const { state, delivered } = await stage.api.ok(
      'GET',
      `/v1/accounts/${stage.account}/replays/${replay.id}`,
    );
    return state === 'finished' && delivered === 1;
  });
}

test('n8n and the daemon are killed, with a change in between: nothing is lost and nothing runs twice', async () => {
  await stage.sandbox.set('f_two', { status: 'REJECTED', rejectionReason: 'Before the crash' });
  await finished(2);
  await n8n.stop('SIGKILL');
  await stage.sandbox.set('f_three', { status: 'REJECTED', rejectionReason: 'While n8n was away' });
  await until('an attempt that failed', async () => {
    const { items } = await stage.api.ok<{ items: { filingId: string; outcome: string }[] }>(
      'GET',
      `/v1/accounts/${stage.account}/attempts?filingId=f_three`,
    );
    return items.length > 0;
  });
  await stage.stop('SIGKILL');
  await stage.sandbox.set('f_four', { status: 'REJECTED', rejectionReason: 'While both were away' });
  await stage.restart('SIGKILL');
  await n8n.start();
  const began = Date.now();
  const executions = await finished(4);
  figures['afterBothWereKilledMs'] = Date.now() - began;
  const filings = await Promise.all(
    executions.map(async ({ id }) => {
      const [event] = await n8n.outputOf(id, trigger);
      return (event?.['data'] as Record<string, unknown>)['filingId'];
    }),
  );
  assert.deepEqual(filings.toSorted(), ['f_four', 'f_one', 'f_three', 'f_two']);
  assert.equal((await subscriptions()).length, 1);
  await delivered();
});

test('n8n starts while the daemon is away: the subscription keeps its place', async () => {
  const [before] = await subscriptions();
  await n8n.stop('SIGTERM');
  await stage.stop('SIGKILL');
  await n8n.start();
  await stage.sandbox.set('f_five', { status: 'REJECTED', rejectionReason: 'While the daemon was away' });
  await stage.restart('SIGKILL');
  await finished(5);
  const [afterwards, ...others] = await subscriptions();
  assert.equal(afterwards?.['id'], before?.['id']);
  assert.equal(others.length, 0);
});

test('a published trigger that is changed keeps its place: what waits is delivered', async () => {
  const [before] = await subscriptions();
  const path = `/v1/accounts/${stage.account}/subscriptions/${String(before?.['id'])}`;
  await stage.api.ok('PATCH', path, { enabled: false });
  await stage.sandbox.set('f_changed', { status: 'REJECTED', rejectionReason: 'Waits for the change' });
  await until('the event', async () => Number((await subscriptions())[0]?.['lag']) > 0);
  await changeTrigger(n8n, workflow, { options: { payload: 'thin' } });
  await publish(n8n, workflow);
  await finished(6);
  const [changed, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  assert.deepEqual([changed?.['id'], changed?.['payload']], [before?.['id'], 'thin']);
  assert.deepEqual([changed?.['enabled'], changed?.['expiresAt']], [true, null]);
});

test('an unpublished workflow keeps its place, and gets what it missed when it is published again', async () => {
  const [before] = await subscriptions();
  await unpublish(n8n, workflow);
  await until('the end of delivery', async () => (await subscriptions())[0]?.['enabled'] === false);
  await stage.sandbox.set('f_missed', { status: 'REJECTED', rejectionReason: 'While it was unpublished' });
  await until('the event', async () => Number((await subscriptions())[0]?.['lag']) > 0);
  await publish(n8n, workflow);
  await finished(7);
  const [afterwards, ...others] = await subscriptions();
  assert.equal(others.length, 0);
  assert.deepEqual([afterwards?.['id'], afterwards?.['enabled']], [before?.['id'], true]);
});

test('unpublishing a workflow that wants it removes the subscription', async () => {
  await changeTrigger(n8n, workflow, { options: { unpublished: 'remove' } });
  await publish(n8n, workflow);
  await delivered();
  await unpublish(n8n, workflow);
  await subscribed(0);
});

test('a subscription that n8n has forgotten is taken over, with what it has still to deliver', async () => {
  await openApi(stage.url, token).ok('POST', `/v1/accounts/${stage.account}/subscriptions`, {
    url: webhook,
    enabled: false,
  });
  await stage.sandbox.set('f_six', { status: 'REJECTED', rejectionReason: 'While n8n knew nothing of it' });
  await until('the event of f_six', async () => Number((await subscriptions())[0]?.['lag']) > 0);
  await publish(n8n, workflow);
  await finished(8);
  const [subscription] = await subscriptions();
  assert.deepEqual(subscription?.['statuses'], ['REJECTED']);
  await unpublish(n8n, workflow);
  await subscribed(0);
});

test('the queue of the examples works events off, tries again, and puts what fails aside', async () => {
  const tries = new Map<string, number>();
  const agency = createServer(async (request, response) => {
    const { data } = (await json(request)) as { data: { filingId: string } };
    tries.set(data.filingId, (tries.get(data.filingId) ?? 0) + 1);
    response
      .writeHead(data.filingId === 'q_bad' ? 500 : 200, { 'content-type': 'application/json' })
      .end('{}');
  }).listen(0, '127.0.0.1');
  after(() => agency.close());
  await once(agency, 'listening');
  const { port } = agency.address() as { port: number };

  const setUp = await importWorkflow(n8n, readExample('queue-set-up'), credentials);
  await n8n.rest('POST', `/workflows/${setUp}/run`, { triggerToStartFrom: { name: 'Once' } });
  await until('the tables', async () => (await n8n.executions(setUp))[0]?.status === 'success', 60_000);
  const accept = await importWorkflow(n8n, readExample('queue-accept'), credentials);
  // The worker of the test looks every second, hides events for seconds instead of minutes, and asks an agency that is here.
  const work = readExample('queue-work', (text) =>
    text
      .replace('"field": "minutes"', '"field": "seconds"')
      .replace('"minutesInterval"', '"secondsInterval"')
      .replace('60000 *', '2000 *')
      .replace('https://agency.example.com', `http://127.0.0.1:${port}`),
  );
  await publish(n8n, await importWorkflow(n8n, work, credentials));
  await publish(n8n, accept);
  await subscribed(1);
  for (const id of ['q_bad', 'q_one', 'q_two']) await stage.sandbox.set(id, { status: 'PENDING' });
  const began = Date.now();
  await until('the dead letter', async () => (await rows('filing_dead_letters')).length > 0, 120_000);
  figures['deadLetterAfterMs'] = Date.now() - began;
  await until('an empty queue', async () => (await rows('filing_queue')).length === 0, 60_000);
  assert.deepEqual([...tries.keys()].toSorted(), ['q_bad', 'q_one', 'q_two']);
  assert.ok((tries.get('q_bad') ?? 0) >= 5);
  figures['tries'] = Object.fromEntries(tries);
  const [letter] = await rows('filing_dead_letters');
  assert.equal(letter?.['attempts'], 5);
  assert.equal((JSON.parse(String(letter?.['event'])) as Json)['type'], 'filing.created');
  assert.match(String(letter?.['last_error']), /500|Internal|service/i);
  await unpublish(n8n, accept);
});

type Json = Record<string, unknown>;

/** The rows of one of n8n's data tables. */
async function rows(name: string): Promise<Json[]> {
  const { id: project } = await n8n.rest<{ id: string }>('GET', '/projects/personal');
  const path = `/projects/${project}/data-tables`;
  const tables = await n8n.rest<{ data: { id: string; name: string }[] }>('GET', path);
  const table = tables.data.find((one) => one.name === name);
  if (table === undefined) return [];
  return (await n8n.rest<{ data: Json[] }>('GET', `${path}/${table.id}/rows`)).data;
}

/** Waits until there are as many subscriptions: n8n answers a publication before it has registered the webhooks. */
async function subscribed(count: number): Promise<void> {
  await until(`${count} subscriptions`, async () => (await subscriptions()).length === count, 60_000);
}

async function subscriptions(): Promise<Record<string, unknown>[]> {
  const { items } = await stage.api.ok<{ items: Record<string, unknown>[] }>(
    'GET',
    `/v1/accounts/${stage.account}/subscriptions`,
  );
  return items;
}

/** The executions of the workflow, once there are as many that have finished. */
async function finished(count: number): Promise<Execution[]> {
  return until(
    `${count} executions`,
    async () => {
      const all = await n8n.executions(workflow);
      assert.ok(all.length <= count, `${all.length} executions instead of ${count}`);
      return all.length === count && all.every(({ status }) => status === 'success') ? all : null;
    },
    90_000,
  );
}

/** Waits until the daemon has nothing more to deliver. */
async function delivered(): Promise<void> {
  await until('an empty queue', async () => (await subscriptions()).every(({ lag }) => lag === 0));
}

/** No execution begins beyond these: the daemon has nothing left to deliver, and n8n has answered all requests. */
async function noneBeyond(count: number): Promise<void> {
  await delivered();
  assert.equal((await n8n.executions(workflow)).length, count);
}
