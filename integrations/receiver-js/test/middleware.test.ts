import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import express from 'express';
import fastify from 'fastify';
import { toExpressHandler } from '../src/middleware/express.ts';
import { toFastifyPlugin } from '../src/middleware/fastify.ts';
import { toNodeHandler } from '../src/middleware/node.ts';
import {
  createReceiver,
  memoryStore,
  toFetchHandler,
  type CallbackError,
  type KnownEvent,
  type ReceiverOptions,
} from '../src/index.ts';
import { filingEvent, secret, signed, type SignedCallback } from './support/sign.ts';
import { frameworks, listen, serve } from './support/frameworks.ts';

const path = '/hooks/filings';

/** A receiver that keeps what it handled and what it refused. */
function newReceiver(options: Partial<ReceiverOptions<undefined>> = {}) {
  const handled: KnownEvent[] = [];
  const errors: CallbackError[] = [];
  const receiver = createReceiver<undefined>({
    secrets: secret,
    store: memoryStore(),
    handle: (event) => void handled.push(event),
    onError: (error) => void errors.push(error),
    ...(options as object),
  });
  return { receiver, handled, errors };
}

async function post(
  url: string,
  { headers, body }: SignedCallback,
): Promise<{ status: number; code: unknown; headers: Headers; text: string }> {
  const response = await fetch(url + path, { method: 'POST', headers, body: new Uint8Array(body) });
  const text = await response.text();
  const code = text.startsWith('{') ? (JSON.parse(text) as { error?: unknown }).error : undefined;
  return { status: response.status, code, headers: response.headers, text };
}

for (const name of frameworks)
  describe(name, () => {
    test('answers 204 to an event that was handled, to its repeats and to what it does not know', async () => {
      const { receiver, handled } = newReceiver();
      await using server = await serve(name, receiver, path);
      const callback = signed(filingEvent(1));
      for (let n = 0; n < 3; n += 1) {
        const { status, text } = await post(server.url, callback);
        assert.deepEqual([status, text], [204, '']);
      }
      assert.equal((await post(server.url, signed(filingEvent(2, {}, 'filing.archived')))).status, 204);
      assert.deepEqual(handled, [filingEvent(1)]);
    });

    test('answers 401, 400 and 403 to what does not verify, is malformed or is another account’s, and handles none of it', async () => {
      const { receiver, handled, errors } = newReceiver({ accounts: ['default'] });
      await using server = await serve(name, receiver, path);
      const callback = signed(filingEvent(1));
      const forged = { ...callback, body: Buffer.from(callback.body.toString().replace('PENDING', 'PAID')) };
      const cases: [SignedCallback, number, string][] = [
        [forged, 401, 'signature_mismatch'],
        [signed(filingEvent(1), { at: Date.now() - 3_600_000 }), 401, 'timestamp_out_of_tolerance'],
        [{ headers: { 'content-type': 'application/json' }, body: callback.body }, 400, 'missing_header'],
        [{ headers: {}, body: Buffer.alloc(0) }, 400, 'missing_header'],
        [signed('{'), 400, 'malformed_body'],
        [signed({ type: 'filing.paid' }), 400, 'malformed_body'],
        [signed({ text: 'Rejected', blocks: [] }), 400, 'malformed_body'],
        [signed(filingEvent(1, { sequence: '1' })), 400, 'malformed_body'],
        [signed(filingEvent(1, { account: 'other' })), 403, 'account_refused'],
      ];
      for (const [sent, status, code] of cases) {
        const answer = await post(server.url, sent);
        assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
        assert.equal(errors.at(-1)?.code, code);
      }
      assert.deepEqual(handled, []);
    });

    test('answers 500 when the handler throws, without its message, and takes the event the next time', async () => {
      let failures = 1;
      const { receiver, errors } = newReceiver({
        handle() {
          failures -= 1;
          if (failures >= 0) throw new Error('password of the database');
        },
      });
      await using server = await serve(name, receiver, path);
      const callback = signed(filingEvent(1));
      const answer = await post(server.url, callback);
      assert.deepEqual([answer.status, answer.code], [500, 'handler_failed']);
      assert.doesNotMatch(answer.text, /password/);
      assert.match(String(errors[0]?.cause), /password/);
      assert.equal((await post(server.url, callback)).status, 204);
      assert.equal(failures, -1);
    });

    test('answers 413 above the limit, said beforehand or not, and lives on', async () => {
      const { receiver, errors } = newReceiver({ bodyBytesMax: 10_000 });
      await using server = await serve(name, receiver, path);
      const large = signed(filingEvent(1, { note: 'x'.repeat(200_000) }));
      const answer = await post(server.url, large).catch((error: unknown) => error);
      // A client that is still sending may see the connection end before the answer.
      if (!(answer instanceof Error)) assert.equal((answer as { status: number }).status, 413);
      assert.equal(await postInChunks(server.url, large), 413);
      assert.ok(errors.length >= 2 && errors.every(({ code }) => code === 'body_too_large'));
      assert.equal((await post(server.url, signed(filingEvent(1)))).status, 204);
    });

    test('answers a challenge with its text', async () => {
      const { receiver, handled } = newReceiver();
      await using server = await serve(name, receiver, path);
      const data = { account: 'default', subscription: 'sub_1', challenge: 'Qm9uam91cg' };
      const challenge = { type: 'subscription.challenge', timestamp: '2026-11-21T10:00:03.120Z', data };
      const { status, text } = await post(server.url, signed(challenge));
      assert.deepEqual([status, JSON.parse(text)], [200, { challenge: 'Qm9uam91cg' }]);
      assert.equal((await post(server.url, { ...signed(challenge), body: Buffer.from('{}') })).status, 401);
      assert.deepEqual(handled, []);
    });

    test('answers 503 with Retry-After while the same filing is being handled, and 503 while the store fails', async () => {
      const begun = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const { receiver } = newReceiver({
        store: memoryStore({ waitMs: 50 }),
        handle() {
          begun.resolve();
          return release.promise;
        },
      });
      await using server = await serve(name, receiver, path);
      const one = post(server.url, signed(filingEvent(1)));
      await begun.promise;
      const other = await post(server.url, signed(filingEvent(2)));
      assert.deepEqual([other.status, other.code, other.headers.get('retry-after')], [503, 'in_flight', '1']);
      release.resolve();
      assert.equal((await one).status, 204);
      const store = { take: () => Promise.reject(new Error('no Redis')) };
      await using broken = await serve(name, newReceiver({ store }).receiver, path);
      const answer = await post(broken.url, signed(filingEvent(1)));
      assert.deepEqual([answer.status, answer.code], [503, 'store_failed']);
    });
  });

describe('beside the rest of an application', () => {
  test('Express: after express.json() the answer says what to move; after express.raw() it is fine', async () => {
    const { receiver, errors } = newReceiver();
    const app = express();
    app.post('/raw', express.raw({ type: () => true }), toExpressHandler(receiver));
    app.use(express.json());
    app.post(path, toExpressHandler(receiver));
    await using server = await listen(app);
    const late = await post(server.url, signed(filingEvent(1)));
    assert.deepEqual([late.status, late.code], [500, 'body_consumed']);
    assert.match(String(errors[0]?.message), /before express\.json\(\)/);
    const { headers, body } = signed(filingEvent(1));
    assert.equal(
      (await fetch(`${server.url}/raw`, { method: 'POST', headers, body: new Uint8Array(body) })).status,
      204,
    );
  });

  test('Fastify: other routes parse JSON and have their limit and errors as before', async () => {
    const { receiver } = newReceiver({ bodyBytesMax: 100 });
    const app = fastify();
    app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
      reply.code(error.statusCode ?? 500).send({ ours: true }),
    );
    app.post('/echo', (request) => request.body);
    await app.register(toFastifyPlugin(receiver), { path: '/filings', prefix: '/hooks' });
    const json = (payload: object) => app.inject({ method: 'POST', url: '/echo', payload });
    assert.deepEqual((await json({ a: 'x'.repeat(500) })).json(), { a: 'x'.repeat(500) });
    const headers = { 'content-type': 'application/json' };
    const invalid = await app.inject({ method: 'POST', url: '/echo', payload: '{', headers });
    assert.deepEqual([invalid.statusCode, invalid.json()], [400, { ours: true }]);
    const large = await app.inject({ method: 'POST', url: path, payload: 'x'.repeat(101), headers });
    assert.deepEqual([large.statusCode, large.json().error], [413, 'body_too_large']);
    await app.close();
  });

  test('node:http: a request that is cut short is handled by nobody, and nothing is left hanging', async () => {
    const { receiver, handled, errors } = newReceiver();
    await using server = await listen((request, response) => void toNodeHandler(receiver)(request, response));
    const { headers, body } = signed(filingEvent(1));
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const lines = Object.entries({ ...headers, host: 'x', 'content-length': body.length });
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    socket.write(body.subarray(0, 20));
    while (errors.length === 0) {
      socket.destroy();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual([errors.map(({ code }) => code), handled], [['malformed_body'], []]);
  });

  test('fetch: a request that is cut short is malformed, and no fault of the receiver', async () => {
    const { receiver } = newReceiver();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const request = new Request('http://x/', { method: 'POST', body, duplex: 'half' } as RequestInit);
    assert.equal((await toFetchHandler(receiver)(request)).status, 400);
  });

  test('a snapshot is taken at the sequence of the last event, and another event is not', async () => {
    const { receiver } = newReceiver();
    const receive = async (event: object) =>
      (await receiver.receive({ method: 'POST', ...signed(event) })).outcome;
    assert.equal(await receive(filingEvent(4)), 'handled');
    assert.equal(await receive(filingEvent(4)), 'stale');
    assert.equal(await receive(filingEvent(4, {}, 'filing.snapshot')), 'handled');
    assert.equal(await receive(filingEvent(3, {}, 'filing.snapshot')), 'stale');
  });

  test('headers are found in any case, and names of any text have their own marks', async () => {
    const { receiver, handled } = newReceiver();
    for (const filingId of ['\ud800', '\ud801', '\u0000', 'a","b']) {
      const { headers, body } = signed(filingEvent(1, { filingId }));
      const upper = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
      );
      assert.equal((await receiver.receive({ method: 'POST', headers: upper, body })).outcome, 'handled');
    }
    assert.equal(handled.length, 4);
  });

  test('a receiver with the keys of a whole daemon has to name its accounts', () => {
    const options = { store: memoryStore(), handle: () => undefined };
    const keySetUrl = 'https://filings.example.com/.well-known/webhook-keys';
    assert.throws(() => createReceiver({ ...options, keySetUrl }), /add \?subscription=sub_…/);
    createReceiver({ ...options, keySetUrl, accounts: ['default'] });
    createReceiver({ ...options, keySetUrl: `${keySetUrl}?subscription=sub_1` });
    assert.throws(
      () => createReceiver({ ...options, store: undefined as never, secrets: secret }),
      /store is missing/,
    );
    assert.throws(
      () => createReceiver({ ...options, handle: undefined as never, secrets: secret }),
      /handle is missing/,
    );
  });

  test('events of later versions reach handleUnknown, once each; stale ones the handler where they are wanted', async () => {
    const seen: unknown[] = [];
    const { receiver } = newReceiver({
      stale: 'handle',
      handle: (event, { isStale, format }) => void seen.push([event.type, isStale, format]),
      handleUnknown: (event) => void seen.push(event.type),
    });
    const receive = async (callback: SignedCallback) =>
      (await receiver.receive({ method: 'POST', ...callback })).outcome;
    const later = signed(filingEvent(5, {}, 'filing.archived'));
    assert.deepEqual([await receive(later), await receive(later)], ['handled', 'repeated']);
    const { timestamp: time, ...event } = filingEvent(4);
    assert.equal(
      await receive(signed({ specversion: '1.0', id: 'evt_1', source: '/a', time, ...event })),
      'handled',
    );
    assert.deepEqual(seen, ['filing.archived', ['filing.pending', true, 'cloudevents']]);
  });
});

// Sends without content-length, and stops as soon as there is an answer.
function postInChunks(url: string, { headers, body }: SignedCallback): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url + path, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.write(body.subarray(0, 20_000)); // more than the limit; the rest never comes
  });
}
