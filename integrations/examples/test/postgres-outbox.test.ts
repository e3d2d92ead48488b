import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { createRandom } from '../../../src/sandbox/random.ts';
import { startStage, until, type Stage } from '../../testing/stage.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { findPostgres, startPostgres } from './private-postgres.ts';
import { startProgram, type Program } from './programs.ts';

const programs = findPostgres();
const skip = programs === null && process.env['REQUIRE_TOOLS'] !== '1' ? 'there is no PostgreSQL' : false;
const seed = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const killingMs = Number(process.env['KILL_MS'] ?? 6_000);

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly filingId: string; readonly sequence: number; readonly status: string };
}

describe('the outbox in PostgreSQL', { skip }, () => {
  const stack = new AsyncDisposableStack();
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  let stage: Stage;
  let mailbox: Mailbox;
  let database: pg.Pool;
  let databaseUrl: string;
  let port: number;
  let receiver: Program;
  let subscription: string;

  before(async () => {
    // As many attempts as there can be, over 20 s: nothing is given up meanwhile.
    const pauses = [...new Array(10).fill(100), ...new Array(40).fill(500)];
    const starting = startStage({ DELIVERY_RETRY_MS: pauses.join(',') });
    const postgres = stack.use(await startPostgres(programs ?? ''));
    stage = stack.use(await starting);
    mailbox = stack.use(await openMailbox());
    databaseUrl = postgres.url;
    database = new pg.Pool({ connectionString: databaseUrl });
    stack.defer(() => database.end());
    await database.query(await readFile(new URL('../postgres-outbox/schema.sql', import.meta.url), 'utf8'));
    port = await freePort();
    receiver = await startReceiver();
    stack.defer(() => receiver.kill());
    const { id } = await stage.api.ok<{ id: string }>('POST', '/v1/accounts/default/subscriptions', {
      url: `http://127.0.0.1:${port}/`,
      verification: 'challenge',
      secret,
    });
    subscription = id;
  });

  after(() => stack.disposeAsync());

  const beginReceiver = (): Program =>
    startProgram('postgres-outbox/receiver.ts', {
      DATABASE_URL: databaseUrl,
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    });

  async function startReceiver(): Promise<Program> {
    const started = beginReceiver();
    await listening(started);
    return started;
  }

  async function listening({ lines }: Program): Promise<void> {
    await until('the receiver listens', () => lines.some((line) => line.startsWith('listening')));
  }

  const startWorker = (): Program =>
    startProgram('postgres-outbox/worker.ts', {
      DATABASE_URL: databaseUrl,
      SMTP_URL: mailbox.url,
      MAIL_FROM: 'filings@agency.example',
      MAIL_TO: 'team@agency.example',
      IDLE_MS: '50',
    });

  async function rows<T>(query: string, ...values: readonly unknown[]): Promise<T[]> {
    return (await database.query(query, [...values])).rows as T[];
  }

  async function seen(filingId: string, status: string): Promise<void> {
    await until(`${filingId} is ${status}`, async () => {
      const answer = await stage.api.call('GET', `/v1/accounts/default/filings/${filingId}`);
      return answer.body['status'] === status;
    });
  }

  async function delivered(): Promise<void> {
    await until('everything is delivered', async () => {
      const shown = await stage.api.ok<{ lag: number }>(
        'GET',
        `/v1/accounts/default/subscriptions/${subscription}`,
      );
      return shown.lag === 0;
    });
  }

  async function allSent(): Promise<void> {
    await until(
      'everything is sent',
      async () => (await rows('select from outbox where sent_at is null')).length === 0,
    );
  }

  async function logged(): Promise<Event[]> {
    const events: Event[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = `limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = await stage.api.ok<{ items: Event[]; nextCursor: string | null }>(
        'GET',
        `/v1/accounts/default/events?${query}`,
      );
      events.push(...page.items);
      cursor = page.nextCursor;
    }
    return events;
  }

  async function post(id: string, body: object): Promise<number> {
    const text = JSON.stringify(body);
    const now = new Date();
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: text,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, now, text),
      },
    });
    return response.status;
  }

  const filingEvent = (
    filingId: string,
    sequence: number,
    more: object = {},
    type = 'filing.rejected',
  ): object => ({
    type,
    timestamp: '2026-11-21T10:00:03.120Z',
    data: {
      account: 'agency',
      filingId,
      sequence,
      status: 'REJECTED',
      rejectionReason: null,
      ...more,
    },
  });

  // Wherever a statement waits, PostgreSQL notices only after its commit that nobody waits for it any more.
  for (const table of ['received', 'filings', 'outbox'])
    test(`takes an event once whose receiver was killed while it wrote ${table}`, async () => {
      await using stack = new AsyncDisposableStack();
      const holder = new pg.Client({ connectionString: databaseUrl });
      stack.defer(() => holder.end());
      await holder.connect();
      await holder.query(`begin; lock table ${table} in exclusive mode`);
      const filing = `f_killed_at_${table}`;
      await stage.sandbox.set(filing, { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' });
      await until('the receiver waits for the lock', async () => {
        const waiting = await rows(`select from pg_stat_activity where wait_event_type = 'Lock'`);
        return waiting.length > 0;
      });
      await receiver.kill();
      await holder.query('commit');
      receiver = await startReceiver();
      await delivered();
      const [mails, states] = [
        await rows('select from outbox where filing_id = $1', filing),
        await rows('select from filings where filing_id = $1', filing),
      ];
      assert.deepEqual([mails.length, states.length], [1, 1]);
      const { items } = await stage.api.ok<{ items: { statusCode: number | null }[] }>(
        'GET',
        `/v1/accounts/default/attempts?filingId=${filing}`,
      );
      assert.ok(items.length > 1, 'it was sent more than once');
      assert.equal(items[0]?.statusCode, 204);
    });

  test('sends a mail again, under the same Message-ID, that was not marked when the worker was killed', async () => {
    let goOn = (): void => undefined;
    mailbox.hold = new Promise<void>((resolve) => (goOn = resolve));
    const killed = startWorker();
    await until('the mail server has the mail', () => mailbox.mails.length === 1);
    await killed.kill();
    goOn();
    await using _worker = startWorker();
    await allSent();
    const ids = mailbox.mails.map(({ id }) => id);
    assert.equal(ids.length, 4);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids.filter((id) => id === ids[0]).length, 2);
    assert.equal(mailbox.mails[0]?.subject, 'Filing f_killed_at_received is REJECTED');
    assert.match(mailbox.mails[0].text, /Affidavit is not signed/);
  });

  test(`loses nothing and has nothing twice while receiver and workers are killed at random (KILL_SEED=${seed})`, async () => {
    const random = createRandom(seed);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    const filings = Array.from({ length: 12 }, (_, n) => `f_random_${n}`);
    const statuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'];
    const last = new Map<string, string>();
    const workers = [startWorker(), startWorker()];
    await using all = new AsyncDisposableStack();
    all.defer(async () => void (await Promise.all(workers.map((worker) => worker.kill()))));
    const mailedBefore = mailbox.mails.length;
    const end = Date.now() + killingMs;
    let workerKills = 0;
    let receiverKills = 0;
    const change = async (): Promise<void> => {
      while (Date.now() < end) {
        const filing = pick(filings);
        const status = pick(statuses);
        await stage.sandbox.set(filing, {
          status,
          rejectionReason: status === 'REJECTED' ? `r${random()}` : null,
        });
        last.set(filing, status);
        await sleep(30);
      }
    };
    const killReceiver = async (): Promise<void> => {
      while (Date.now() < end) {
        // Some kills come while it starts.
        await sleep(random() * 1_200);
        await receiver.kill();
        receiverKills += 1;
        receiver = beginReceiver();
      }
    };
    const killWorker = async (): Promise<void> => {
      while (Date.now() < end) {
        await sleep(300 + random() * 500);
        const n = Math.floor(random() * workers.length);
        await workers[n]?.kill();
        workerKills += 1;
        workers[n] = startWorker();
      }
    };
    await Promise.all([change(), killReceiver(), killWorker()]);
    await listening(receiver);
    for (const [filing, status] of last) await seen(filing, status);
    await delivered();
    await allSent();

    const events = (await logged()).filter(({ data }) => data.filingId.startsWith('f_random_'));
    const mailed = events
      .filter(({ data }) => ['REJECTED', 'COMPLETED'].includes(data.status))
      .map(({ id }) => id);
    const outbox = await rows<{ webhook_id: string }>(
      `select webhook_id from outbox where filing_id like 'f\\_random\\_%' order by webhook_id`,
    );
    assert.deepEqual(
      outbox.map((row) => row.webhook_id),
      mailed.toSorted(),
    );
    const states = await rows<{ filing_id: string; status: string; sequence: string }>(
      `select filing_id, status, sequence from filings where filing_id like 'f\\_random\\_%'`,
    );
    const latest = new Map(events.map(({ data }) => [data.filingId, data]));
    assert.equal(states.length, last.size);
    for (const { filing_id, status, sequence } of states) {
      assert.equal(status, last.get(filing_id));
      assert.equal(Number(sequence), latest.get(filing_id)?.sequence);
    }
    const mails = mailbox.mails.slice(mailedBefore).map(({ id }) => id);
    assert.deepEqual(
      [...new Set(mails)].toSorted(),
      mailed.map((id) => `<${id}@filing-webhooks>`).toSorted(),
    );
    assert.ok(mails.length - mailed.length <= workerKills, 'at most one mail a kill is repeated');
    console.log(
      `${events.length} events, ${mailed.length} mails, ${mails.length - mailed.length} repeated, kills: ${receiverKills} of the receiver, ${workerKills} of a worker`,
    );
  });

  test('changes nothing for a repeat or an older sequence, and takes a snapshot of the same', async () => {
    const state = async (): Promise<unknown> =>
      (await rows(`select status, sequence::int, removed from filings where filing_id = 'f_posted'`))[0];
    assert.equal(await post('evt_a', filingEvent('f_posted', 5, { status: 'PENDING' })), 204);
    assert.equal(await post('evt_b', filingEvent('f_posted', 4)), 204);
    assert.equal(await post('evt_a', filingEvent('f_posted', 6)), 204);
    assert.deepEqual(await state(), { status: 'PENDING', sequence: 5, removed: false });
    assert.equal((await rows(`select from outbox where filing_id = 'f_posted'`)).length, 0);
    assert.equal(await post('evt_c', filingEvent('f_posted', 5, {}, 'filing.snapshot')), 204);
    assert.deepEqual(await state(), { status: 'REJECTED', sequence: 5, removed: false });
    assert.equal(await post('evt_d', filingEvent('f_posted', 6, { filing: null }, 'filing.removed')), 204);
    assert.deepEqual(await state(), { status: 'REJECTED', sequence: 6, removed: true });
    assert.equal((await rows(`select from outbox where filing_id = 'f_posted'`)).length, 0);
  });

  test('takes texts that PostgreSQL has no characters for', async () => {
    const texts = { rejectionReason: 'a\0b\ud83d', filing: { id: 'f_odd', 'odd\0name': 'a\0b\ud83d' } };
    assert.equal(await post('evt_odd', filingEvent('f_odd', 1, texts)), 204);
    const [row] = await rows<{ rejection_reason: string }>(
      `select rejection_reason from filings where filing_id = 'f_odd'`,
    );
    assert.equal(row?.rejection_reason, 'a\u{fffd}b\u{fffd}');
  });

  test('refuses what is not signed and what is too large', async () => {
    const send = async (body: string, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status;
    assert.equal(await send('{}'), 401);
    const forged = { 'webhook-id': 'evt_f', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
    assert.equal(await send('{}', { ...forged, 'webhook-signature': 'v1,AAAA' }), 401);
    assert.equal(await send('x'.repeat(8 * 2 ** 20)), 413);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
