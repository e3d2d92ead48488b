import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import pg from 'pg';
import { postgresStore, postgresTable, type Delivery, type Store } from '../src/index.ts';
import { newId } from './support/sign.ts';
import { describeStore } from './support/store-contract.ts';
import { startPostgres, type TestPostgres } from './support/postgres.ts';

let postgres: TestPostgres | null = null;
let pool: pg.Pool;
before(async () => {
  postgres = await startPostgres();
  if (postgres === null) {
    if (process.env['REQUIRE_TOOLS'] === '1') throw new Error('Postgres is missing: install postgresql.');
    return;
  }
  pool = new pg.Pool({ ...postgres.connection, max: 20 });
  await pool.query(`${postgresTable()}; create schema hooks; ${postgresTable('hooks.marks')}`);
  await pool.query('create table filings (id text primary key, status text not null)');
});
after(async () => {
  if (postgres === null) return;
  await pool.end();
  await postgres[Symbol.asyncDispose]();
});

describeStore('Postgres', (waitMs) =>
  postgres === null ? null : (postgresStore<pg.PoolClient>({ pool, waitMs }) as Store<unknown>),
);

const holds = (title: string, body: () => Promise<void>) =>
  test(title, async (context: TestContext) => {
    if (postgres === null) context.skip('Postgres is not installed');
    else await body();
  });

const delivery = (id: string, sequence: number): Delivery => ({
  webhookId: newId(),
  account: 'default',
  filing: { id, sequence },
  takes: 'greater',
});
const save = (client: pg.PoolClient, id: string, status: string) =>
  client.query(
    'insert into filings values ($1, $2) on conflict (id) do update set status = excluded.status',
    [id, status],
  );
const statusOf = async (id: string): Promise<unknown> =>
  (await pool.query('select status from filings where id = $1', [id])).rows[0]?.status;

holds('what a handler writes and the mark are committed together, or neither is', async () => {
  const store = postgresStore<pg.PoolClient>({ pool });
  const event = delivery('pg_1', 1);
  const failing = store.take(event, async ({ transaction }) => {
    await save(transaction, 'pg_1', 'PAID');
    throw new Error('after writing');
  });
  await assert.rejects(failing, /after writing/);
  assert.equal(await statusOf('pg_1'), undefined);
  assert.equal(
    await store.take(event, async ({ transaction }) => void (await save(transaction, 'pg_1', 'PAID'))),
    'handled',
  );
  assert.equal(await statusOf('pg_1'), 'PAID');
});

holds('a connection that ends before the commit leaves neither', async () => {
  const store = postgresStore<pg.PoolClient>({ pool });
  const event = delivery('pg_2', 1);
  const killed = store.take(event, async ({ transaction }) => {
    await save(transaction, 'pg_2', 'PAID');
    await pool.query('select pg_terminate_backend($1)', [
      (transaction as unknown as { processID: number }).processID,
    ]);
  });
  await assert.rejects(killed);
  assert.equal(await statusOf('pg_2'), undefined);
  assert.equal(await store.take(event, () => Promise.resolve()), 'handled');
});

holds(
  'a handler that hides the error of a statement is no success: Postgres would roll its work back',
  async () => {
    const event = delivery('pg_3', 1);
    const store = postgresStore<pg.PoolClient>({ pool });
    const hiding = store.take(event, async ({ transaction }) => {
      await save(transaction, 'pg_3', 'PAID');
      await transaction.query('select 1 / 0').catch(() => undefined);
    });
    await assert.rejects(hiding, /aborted/);
    assert.equal(await store.take(event, () => Promise.resolve()), 'handled');
  },
);

holds('a transaction of the application’s own and a table of another name do as well', async () => {
  const store = postgresStore<pg.PoolClient>({
    table: 'hooks.marks',
    async transaction<Result>(work: (client: pg.PoolClient) => Promise<Result>) {
      const client = await pool.connect();
      try {
        await client.query('begin isolation level serializable');
        const result = await work(client);
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
  });
  const event = delivery('pg_4', 9_007_199_254_740_991);
  assert.equal(
    await store.take(event, async ({ transaction }) => void (await save(transaction, 'pg_4', 'PAID'))),
    'handled',
  );
  assert.equal(await store.take(event, () => Promise.reject(new Error('again'))), 'repeated');
  assert.equal((await pool.query('select * from hooks.marks')).rows.length, 1);
});

holds('a transaction in which nothing happens is ended, and its filing is free again', async () => {
  const event = delivery('pg_6', 1);
  const begun = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const silent = postgresStore<pg.PoolClient>({ pool, idleMs: 100 }).take(event, ({ transaction }) => {
    transaction.once('error', () => gone.resolve());
    begun.resolve();
    return gone.promise;
  });
  const ended = assert.rejects(silent);
  await begun.promise;
  assert.equal(await postgresStore<pg.PoolClient>({ pool }).take(event, () => Promise.resolve()), 'handled');
  await ended;
});

holds('the handler’s own statements wait as long as the application is used to', async () => {
  let own: unknown = null;
  await postgresStore<pg.PoolClient>({ pool, waitMs: 1_234 }).take(
    delivery('pg_5', 1),
    async ({ transaction }) => {
      own = (await transaction.query('show lock_timeout')).rows[0];
    },
  );
  assert.deepEqual(own, { lock_timeout: '0' });
});

test('a table’s name is no way into the statement', () => {
  assert.throws(() => postgresTable('marks; drop table filings'), /letters, digits and _/);
  assert.throws(() => postgresStore({} as never), /either a pool or a function transaction/);
});
