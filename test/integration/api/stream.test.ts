import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { appendEvent, paidEvent } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';

interface Message {
  readonly id: string;
  readonly event: string | null;
  readonly data: {
    readonly id: string;
    readonly type: string;
    readonly data: { readonly filingId: string };
  } | null;
}

const redis = testRedis();
let api: ApiFixture;
let base: string;
let headReads = 0;

beforeAll(async () => {
  const client = redis.connect();
  const plain = await createApiFixture(client, redis.prefix);
  const { log } = plain.deps;
  api = await createApiFixture(client, redis.prefix, {
    timing: { followMs: 20, heartbeatMs: 60, idleMs: 1_000 },
    limits: { streams: { perToken: 20, perAccount: 30 } },
    log: {
      ...log,
      head(account) {
        headReads += 1;
        return log.head(account);
      },
    },
  });
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** Listens to a stream; messages and comments are read as they come. */
async function listen(
  account: string,
  query = '',
  headers: Record<string, string> = {},
  token = operatorToken,
) {
  const end = new AbortController();
  const response = await fetch(`${base}/v1/accounts/${account}/events/stream${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: end.signal,
  });
  const blocks = readBlocks(response);
  async function next(wanted: (block: string) => boolean): Promise<string> {
    for (;;) {
      const { value, done } = await blocks.next();
      if (done === true) throw new Error('the stream has ended');
      if (wanted(value)) return value;
    }
  }
  return {
    response,
    /** The next block with data. */
    message: async () => parseMessage(await next((block) => block.includes('data: '))),
    /** The id that it begins with. */
    firstId: async () => /^id: (\S+)$/m.exec(await next((block) => block.startsWith('retry: ')))?.[1] ?? '',
    /** The next block that carries an id. */
    id: async () => parseMessage(await next((block) => block.startsWith('id: '))).id,
    comment: () => next((block) => block.startsWith(':')),
    /** Resolves when the other side has ended the stream. */
    async ended() {
      for await (const _ of blocks);
    },
    close: () => end.abort(),
  };
}

async function* readBlocks(response: Response): AsyncGenerator<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    yield* blocks;
  }
}

function parseMessage(block: string): Message {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const data = fields.get('data');
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? null,
    data: data === undefined ? null : (JSON.parse(data) as Message['data']),
  };
}

const put = (account: string, id: string, type = 'filing.paid') =>
  api.putFilings(account, [{ id, status: 'PAID', type }]);

test('a stream sends each new event once, as the list shows it', async () => {
  await api.createAccount('live');
  await put('live', 'before');
  const stream = await listen('live');
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  await stream.comment();
  await put('live', 'f_1');
  await put('live', 'f_2', 'filing.created');
  const told = [await stream.message(), await stream.message()];
  expect(told.map(({ event }) => event)).toEqual(['filing.paid', 'filing.created']);
  const { items } = await api.ok('GET', '/v1/accounts/live/events');
  expect(told.map(({ data }) => data)).toEqual((items as unknown[]).slice(1));
  stream.close();
});

test('Last-Event-ID goes on behind that event, without gap or repeat', async () => {
  await api.createAccount('resumed');
  const first = await listen('resumed');
  await first.comment();
  await put('resumed', 'f_1');
  const { id } = await first.message();
  first.close();
  await put('resumed', 'f_2');
  await put('resumed', 'f_3');
  const second = await listen('resumed', '', { 'last-event-id': id });
  const ids = [await second.message(), await second.message()].map(({ data }) => data?.data.filingId);
  expect(ids).toEqual(['f_2', 'f_3']);
  await put('resumed', 'f_4');
  expect((await second.message()).data?.data.filingId).toBe('f_4');
  second.close();
});

test('a stream that broke before its first event goes on where it began', async () => {
  await api.createAccount('early');
  await put('early', 'f_1');
  const broken = await listen('early');
  const id = await broken.firstId();
  broken.close();
  await put('early', 'f_2');
  const resumed = await listen('early', '', { 'last-event-id': id });
  expect((await resumed.message()).data?.data.filingId).toBe('f_2');
  resumed.close();
});

test('an empty Last-Event-ID is none', async () => {
  await api.createAccount('unnumbered');
  await put('unnumbered', 'f_1');
  const stream = await listen('unnumbered', '?from=earliest', { 'last-event-id': '' });
  expect((await stream.message()).data?.data.filingId).toBe('f_1');
  stream.close();
});

test('a stream goes on from the cursor of a list, and a list from the id of a stream', async () => {
  await api.createAccount('mixed');
  await put('mixed', 'f_1');
  const { resumeCursor } = await api.ok('GET', '/v1/accounts/mixed/events?limit=1');
  await put('mixed', 'f_2');
  const stream = await listen('mixed', `?cursor=${String(resumeCursor)}`);
  const { id, data } = await stream.message();
  expect(data?.data.filingId).toBe('f_2');
  stream.close();
  await put('mixed', 'f_3');
  const { items } = await api.ok('GET', `/v1/accounts/mixed/events?cursor=${id}`);
  expect((items as { data: { filingId: string } }[]).map((item) => item.data.filingId)).toEqual(['f_3']);
});

test('from=earliest begins with the oldest event, however many there are', async () => {
  await api.createAccount('earliest');
  const filings = Array.from({ length: 600 }, (_, i) => ({
    id: `f_${i}`,
    status: 'PAID',
    type: 'filing.paid',
  }));
  await api.putFilings('earliest', filings);
  const stream = await listen('earliest', '?from=earliest');
  for (const { id } of filings) {
    expect((await stream.message()).data?.data.filingId).toBe(id);
  }
  stream.close();
});

test('a listener that is behind gets everything, also while another is up to date', async () => {
  await api.createAccount('behind');
  await put('behind', 'f_1');
  await put('behind', 'f_2');
  const live = await listen('behind');
  await live.comment();
  await put('behind', 'f_3');
  await live.message();
  const late = await listen('behind', '?from=earliest');
  const told = [await late.message(), await late.message(), await late.message()];
  expect(told.map(({ data }) => data?.data.filingId)).toEqual(['f_1', 'f_2', 'f_3']);
  live.close();
  late.close();
});

test('filters leave events out, and the last id still moves on', async () => {
  await api.createAccount('filtered');
  const stream = await listen('filtered', '?types=filing.rejected');
  await stream.comment();
  await put('filtered', 'f_1');
  const passed = await stream.id();
  expect((await api.ok('GET', `/v1/accounts/filtered/events?cursor=${passed}`))['items']).toEqual([]);
  await put('filtered', 'f_2', 'filing.rejected');
  expect((await stream.message()).data?.data.filingId).toBe('f_2');
  stream.close();
});

test('a quiet stream is kept open by comments', async () => {
  await api.createAccount('quiet');
  const stream = await listen('quiet');
  const since = performance.now();
  for (let i = 0; i < 25; i += 1) {
    await stream.comment();
  }
  // Longer than the idle time after which a silent connection would be cut.
  expect(performance.now() - since).toBeGreaterThan(1_000);
  stream.close();
});

test('the log is looked at once for all listeners, and not at all without any', async () => {
  await api.createAccount('shared');
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen('shared')));
  await Promise.all(streams.map((stream) => stream.comment()));
  const before = headReads;
  await streams[0]?.comment();
  await streams[0]?.comment();
  await streams[0]?.comment();
  expect(headReads - before).toBeLessThan(30);
  await put('shared', 'f_1');
  const told = await Promise.all(streams.map((stream) => stream.message()));
  expect(new Set(told.map(({ id }) => id)).size).toBe(1);
  for (const stream of streams) stream.close();
  await vi.waitFor(async () => {
    const reads = headReads;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(headReads).toBe(reads);
  }, 5_000);
});

test('too many streams of a token, or of the tokens of an account, are refused', async () => {
  const path = await api.createAccount('crowded');
  const makeToken = async () =>
    String((await api.ok('POST', `${path}/tokens`, { name: 'a', readOnly: true }))['token']);
  const [first, second] = [await makeToken(), await makeToken()];
  const open = (token: string) => listen('crowded', '', {}, token);
  const streams = await Promise.all(Array.from({ length: 20 }, () => open(first)));
  const refused = await open(first);
  expect(refused.response.status).toBe(429);
  expect(await refused.response.json()).toMatchObject({
    code: 'too_many_streams',
    detail: expect.stringContaining('a token has at most 20 at once, the tokens of an account 30') as string,
  });
  const others = await Promise.all(Array.from({ length: 11 }, () => open(second)));
  expect(others.map(({ response }) => response.status).filter((status) => status === 429)).toEqual([429]);
  const operators = await listen('crowded');
  expect(operators.response.status).toBe(200);
  streams[0]?.close();
  await vi.waitFor(async () => {
    const again = await open(first);
    again.close();
    expect(again.response.status).toBe(200);
  }, 5_000);
  for (const stream of [...streams, ...others, operators]) stream.close();
});

/** Asks for a stream and never reads from the socket. */
function openUnread(account: string): Socket {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  socket.pause();
  socket.write(
    `GET /v1/accounts/${account}/events/stream?from=earliest HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operatorToken}\r\n\r\n`,
  );
  return socket;
}

test('a listener that does not read is dropped, and not sent more than the buffers between hold', async () => {
  await api.createAccount('slow');
  const document = { text: 'x'.repeat(100_000) };
  for (let i = 0; i < 200; i += 1) {
    await api.putFilings('slow', [{ id: `f_${i}`, status: 'PAID', type: 'filing.paid', document }]);
  }
  const { promise: dropped, resolve: drop } = Promise.withResolvers<number>();
  api.app.server.once('connection', (served: Socket) =>
    served.once('close', () => drop(served.bytesWritten)),
  );
  const socket = openUnread('slow');
  // Twenty megabytes wait for it; what it was sent is what the system's buffers hold.
  expect(await dropped).toBeLessThan(10_000_000);
  socket.destroy();
});

test('a stream ends after its time, so that a revoked token does not listen for ever', async () => {
  const short = await createApiFixture(redis.connect(), redis.prefix, { timing: { streamMs: 100 } });
  const path = await short.createAccount('short');
  const own = await short.app.listen({ host: '127.0.0.1', port: 0 });
  const { token, id } = await short.ok('POST', `${path}/tokens`, { name: 'x' });
  const open = () =>
    fetch(`${own}${path}/events/stream`, { headers: { authorization: `Bearer ${String(token)}` } });
  const response = await open();
  await short.ok('DELETE', `${path}/tokens/${String(id)}`);
  await response.text();
  expect((await open()).status).toBe(401);
  await short.app.close();
});

test('closing the API ends its streams', async () => {
  const closing = await createApiFixture(redis.connect(), redis.prefix);
  await closing.createAccount('closing');
  const own = await closing.app.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${own}/v1/accounts/closing/events/stream`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const text = response.text();
  await closing.app.close();
  expect(await text).toMatch(/^retry: 3000\nid: \S+\n\n(?:: nothing new\n\n)*$/);
});

test('a listener hears what takes the positions of events that Redis has lost', async () => {
  await api.createAccount('parted');
  const client = redis.connect();
  // Not by way of the snapshot, which would make up for what was lost.
  const append = (id: string) => appendEvent(client, api.keys.account('parted'), paidEvent(id), 1);
  await append('a');
  const stream = await listen('parted', '?from=earliest');
  const heard = [(await stream.message()).data?.data.filingId];
  const setBack = await api.stored.of('parted').remember();
  for (const id of ['lost1', 'lost2', 'lost3']) await append(id);
  const last = [await stream.message(), await stream.message(), await stream.message()].at(-1);
  await setBack();
  for (const id of ['b', 'c', 'd', 'e']) await append(id);
  while (heard.at(-1) !== 'e') heard.push((await stream.message()).data?.data.filingId);
  // At the start of the log, the last position that both know for certain.
  expect(heard.filter((id) => id !== 'a')).toEqual(['b', 'c', 'd', 'e']);
  stream.close();
  // And so does one that comes again with an id of the lost part.
  const resumed = await listen('parted', '', { 'last-event-id': last?.id ?? '' });
  const again: unknown[] = [];
  while (again.at(-1) !== 'e') again.push((await resumed.message()).data?.data.filingId);
  expect(again).toEqual(['a', 'b', 'c', 'd', 'e']);
  resumed.close();
});
