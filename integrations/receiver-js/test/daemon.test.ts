import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { provideRedis, type ProvidedRedis } from '../../../src/demo/provide-redis.ts';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import {
  createReceiver,
  memoryStore,
  postgresTable,
  type Answer,
  type KnownEvent,
  type Receiver,
  type ReceiverOptions,
} from '../src/index.ts';
import { frameworks, serve } from './support/frameworks.ts';
import { startPostgres, type TestPostgres } from './support/postgres.ts';
import { otherSecret, secret } from './support/sign.ts';
import { startReceiverProcess } from './support/stage-receivers.ts';

let stage: Stage;
let redis: ProvidedRedis;
let postgres: TestPostgres | null;
before(async () => {
  const quick = Array.from({ length: 10 }, () => '200').join(',');
  [stage, redis, postgres] = await Promise.all([
    startStage({ DELIVERY_RETRY_MS: quick }),
    provideRedis({
      env: { ...process.env, REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' },
      log: () => undefined,
      allowEmulation: false,
      variable: 'TEST_REDIS_URL',
    }),
    startPostgres(),
  ]);
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await redis?.close();
  await postgres?.[Symbol.asyncDispose]();
});

interface Subscription {
  readonly id: string;
  readonly secret: string | null;
}

const subscribe = (url: string, settings: object): Promise<Subscription> =>
  stage.api.ok('POST', '/v1/accounts/default/subscriptions', { url, ...settings });

const path = '/hooks/filings';

/** A receiver that keeps what it handled and how it answered. */
function recording(
  options: Omit<ReceiverOptions<undefined>, 'store' | 'handle'> &
    Partial<Pick<ReceiverOptions<undefined>, 'handle'>>,
) {
  const handled: KnownEvent[] = [];
  const answers: Answer[] = [];
  const inner = createReceiver<undefined>({
    store: memoryStore(),
    handle: (event) => void handled.push(event),
    onError: () => undefined,
    ...options,
  } as ReceiverOptions<undefined>);
  const receiver: Receiver = {
    ...inner,
    async receive(request) {
      const answer = await inner.receive(request);
      answers.push(answer);
      return answer;
    },
  };
  const outcomes = () => answers.map(({ outcome }) => outcome);
  return { receiver, handled, answers, outcomes };
}

test('every framework gets callbacks of a daemon: the challenge, a failure that is repeated, each event handled once', async () => {
  await Promise.all(
    frameworks.map(async (framework, index) => {
      let failures = 1;
      const handled: KnownEvent[] = [];
      const { receiver, answers } = recording({
        secrets: secret,
        handle(event) {
          failures -= 1;
          if (failures >= 0) throw new Error('the database is away');
          handled.push(event);
        },
      });
      await using server = await serve(framework, receiver, path);
      const { id } = await subscribe(server.url + path, {
        secret,
        verification: 'challenge',
        format: index % 2 === 0 ? 'standard' : 'cloudevents',
        filter: `filing.id.startsWith("f_${index}_")`,
      });
      await until('the challenge', () => answers.some(({ outcome }) => outcome === 'confirmed'));
      await stage.sandbox.set(`f_${index}_1`, { status: 'PAID', insuredsName: 'Åsa & Söner 😀' });
      await until('the event', () => handled.length === 1);
      await stage.sandbox.set(`f_${index}_1`, {
        status: 'REJECTED',
        rejectionReason: 'Affidavit is not signed',
      });
      await until('the rejection', () => handled.length === 2);
      const [created, rejected] = handled;
      assert.ok(created?.type === 'filing.created' && rejected?.type === 'filing.rejected', framework);
      assert.deepEqual(
        [created.data.filing?.['insuredsName'], rejected.data.sequence],
        ['Åsa & Söner 😀', 2],
      );
      assert.equal(rejected.data.rejectionReason, 'Affidavit is not signed');
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual(statuses.slice(statuses.lastIndexOf(200) + 1), [500, 204, 204], framework);
      // What was handled and is sent again is acknowledged, and handled by nobody.
      await stage.api.ok('POST', `/v1/accounts/default/subscriptions/${id}/replay`, {
        filingId: `f_${index}_1`,
      });
      await until('the replay', () => answers.length >= statuses.length + 2);
      assert.deepEqual(
        answers.slice(-2).map(({ status }) => status),
        [204, 204],
      );
      assert.equal(handled.length, 2);
      await stage.api.ok('DELETE', `/v1/accounts/default/subscriptions/${id}`);
    }),
  );
});

test('while the secret is changed, receivers with the former, the new or both refuse nothing', async () => {
  const former = recording({ secrets: secret });
  const next = recording({ secrets: otherSecret });
  const both = recording({ secrets: [otherSecret, secret] });
  const all = [former, next, both];
  const servers = await Promise.all(all.map(({ receiver }) => serve('node:http', receiver, path)));
  const subscriptions = await Promise.all(
    servers.map(({ url }) => subscribe(url + path, { secret, filter: 'filing.id == "f_rotation"' })),
  );
  await Promise.all(
    subscriptions.map(({ id }) =>
      stage.api.ok('POST', `/v1/accounts/default/subscriptions/${id}/rotate-secret`, { secret: otherSecret }),
    ),
  );
  await stage.sandbox.set('f_rotation', { status: 'PAID' });
  await until('three callbacks', () => all.every(({ handled }) => handled.length === 1));
  assert.deepEqual(
    all.map(({ outcomes }) => outcomes()),
    [['handled'], ['handled'], ['handled']],
  );
  await Promise.all(
    subscriptions.map(({ id }) => stage.api.ok('DELETE', `/v1/accounts/default/subscriptions/${id}`)),
  );
  for (const server of servers) await server[Symbol.asyncDispose]();
});

test('v1a verifies with the keys of the daemon’s JWKS, before and after a change of the key', async () => {
  let address = '';
  // The address is known once the subscription exists, and that needs the receiver's.
  const lazy: Receiver = {
    ready: Promise.resolve(),
    bodyBytesMax: 1e6,
    receive: (request) => current.receive(request),
  };
  await using server = await serve('fetch', lazy, path);
  const { id, secret: none } = await subscribe(server.url + path, {
    signatures: ['v1a'],
    filter: 'filing.id == "f_keys"',
  });
  assert.equal(none, null);
  address = `${stage.url}/.well-known/webhook-keys?subscription=${id}`;
  const { receiver: current, handled, outcomes } = recording({ keySetUrl: address });
  await stage.sandbox.set('f_keys', { status: 'UNPAID' });
  await until('the first event', () => handled.length === 1);
  await stage.api.ok('POST', `/v1/accounts/default/subscriptions/${id}/rotate-secret`, {});
  await stage.sandbox.set('f_keys', { status: 'PAID' });
  await until('an event after the change', () => handled.length === 2);
  assert.deepEqual(outcomes(), ['handled', 'handled']);
  const { publicKeys } = await stage.api.ok<{ publicKeys: { key: string }[] }>(
    'GET',
    `/v1/accounts/default/subscriptions/${id}`,
  );
  assert.equal(publicKeys.length, 2);
  const pinned = recording({ publicKeys: publicKeys[0]?.key ?? '' });
  await using other = await serve('node:http', pinned.receiver, path);
  await stage.api.ok('PATCH', `/v1/accounts/default/subscriptions/${id}`, { url: other.url + path });
  await stage.api.ok('DELETE', `/v1/accounts/default/subscriptions/${id}`);
});

/** Kills a receiver in its handler while filings move; returns what was handled, in order, once the last states have arrived. */
async function killInHandlers(name: string, settings: Record<string, string>, read: () => Promise<string[]>) {
  const environment = { WEBHOOK_SECRET: secret, ...settings };
  let receiver = await startReceiverProcess(environment);
  const { port } = new URL(receiver.url);
  const { id } = await subscribe(receiver.url + path, { secret, filter: `filing.id.startsWith("${name}_")` });
  const filings = [1, 2, 3, 4].map((n) => `${name}_${n}`);
  const move = (status: string) =>
    Promise.all(filings.map((filing) => stage.sandbox.set(filing, { status })));
  const statuses = ['UNPAID', 'PAID', 'REJECTED'];
  for (const status of statuses) {
    await move(status);
    await receiver.inHandler();
    await receiver.kill();
    receiver = await startReceiverProcess({ ...environment, PORT: port });
    await until(`${status} was handled of each`, async () => {
      const lines = await read();
      return filings.every((filing) =>
        lines.some((line) => line.startsWith(`["${filing}"`) && line.endsWith(`"${status}"]`)),
      );
    });
  }
  await stage.api.ok('DELETE', `/v1/accounts/default/subscriptions/${id}`);
  await receiver.kill();
  const expected = filings.flatMap((filing) =>
    statuses.map((status, index) => JSON.stringify([filing, index + 1, status])),
  );
  return { handled: await read(), expected: expected.toSorted() };
}

test('a receiver that is killed in its handler loses nothing, with Redis', async () => {
  const client = new Redis(redis.url);
  const prefix = `receiver-${process.pid}-killed`;
  const settings = { STORE: 'redis', REDIS_URL: redis.url, PREFIX: prefix };
  const { handled, expected } = await killInHandlers('redis', settings, () =>
    client.lrange(`${prefix}:handled`, 0, -1),
  );
  client.disconnect();
  // The effect and the mark are two steps: what was killed between them is there twice.
  assert.deepEqual([...new Set(handled)].toSorted(), expected);
  assert.ok(handled.length <= expected.length + 3 * 4, String(handled));
});

test('a receiver that is killed in its handler loses nothing and does nothing twice, with Postgres', async (context) => {
  if (postgres === null) return context.skip('Postgres is not installed');
  const pool = new pg.Pool(postgres.connection);
  await pool.query(`${postgresTable()}; create table handled (line text not null)`);
  const settings = { STORE: 'postgres', PGHOST: postgres.connection.host };
  const read = async () =>
    (await pool.query<{ line: string }>('select line from handled')).rows.map(({ line }) => line);
  const { handled, expected } = await killInHandlers('postgres', settings, read);
  await pool.end();
  assert.deepEqual(handled.toSorted(), expected);
});
