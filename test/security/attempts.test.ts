import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../support/receivers/receiver.ts';
import { createApiFixture, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../integration/delivery/drain-harness.ts';

const redis = testRedis();
let api: ApiFixture;
let harness: Harness;
let base: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  harness = await createHarness(redis, { retryMs: [3_600_000] });
  base = await api.createAccount(harness.account);
});

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await api.app.close();
  await redis.cleanup();
});

test('an attempt shows no secret to anybody, and nothing of the receiver to those who watch', async () => {
  await using receiver = await startReceiver(() => ({
    status: 500,
    headers: { 'x-answer': 'answer-header' },
    body: 'answer-body',
  }));
  const headers = { authorization: 'Bearer custom-secret' };
  const id = await harness.subscribe(`${receiver.url}/path-secret`, { headers });
  await harness.append('f');
  await harness.drain(id);
  const { items } = await api.ok('GET', `${base}/attempts?subscription=${id}`);
  const [attempt] = items as { id: string; eventId: string }[];
  const paths = [
    `${base}/attempts`,
    `${base}/attempts?filingId=f`,
    `${base}/attempts/${attempt?.id}`,
    `${base}/subscriptions/${id}/attempts`,
    `${base}/events/${attempt?.eventId}/deliveries`,
  ];
  const readOnly = await api.ok('POST', `${base}/tokens`, { name: 'watcher', readOnly: true });
  for (const path of paths) {
    const all = await api.call('GET', path);
    const watched = await api.call('GET', path, undefined, { token: String(readOnly['token']) });
    expect([all.status, watched.status]).toEqual([200, 200]);
    expect(all.text).not.toMatch(/custom-secret|whsec_/);
    expect(watched.text).not.toMatch(/custom-secret|whsec_|path-secret|answer-|v1,/);
  }
  const detail = await api.ok('GET', `${base}/attempts/${attempt?.id}`);
  const [sent] = receiver.received;
  expect(detail).toMatchObject({
    id: attempt?.id,
    subscription: id,
    request: {
      url: `${receiver.url}/path-secret`,
      headers: {
        authorization: '***',
        'webhook-id': sent?.id,
        'webhook-timestamp': String(sent?.timestamp),
        'webhook-signature': sent?.headers['webhook-signature'],
        'webhook-attempt': '1',
        'content-type': 'application/json',
      },
      body: sent?.raw,
    },
    requestMissing: null,
    responseHeaders: { 'x-answer': 'answer-header' },
    response: 'answer-body',
    earlier: [],
    later: [],
    replay: null,
  });
  const event = await api.ok('GET', `${base}/events/${attempt?.eventId}`);
  expect(event).toEqual({ id: sent?.id, ...(JSON.parse(sent?.raw ?? '') as object) });
});

test('an event and an attempt that do not exist answer 404, with what to do', async () => {
  const unknown = `evt_${'0'.repeat(32)}`;
  for (const path of [`events/${unknown}`, `events/${unknown}?filingId=f`, `events/${unknown}/deliveries`])
    expect((await api.call('GET', `${base}/${path}`)).body).toMatchObject({
      code: 'event_not_found',
      detail: expect.stringMatching(
        path.includes('?') ? /^The log has no event of the filing in filingId/ : /^The log has no event with/,
      ) as string,
    });
  for (const id of ['att_1-1.sub_none', 'att_1-1', 'att_1-1.sub_a:dead', '..'])
    expect((await api.call('GET', `${base}/attempts/${id}`)).status).toBe(404);
  expect(
    (await api.call('GET', `${base}/attempts?after=2026-01-02T00:00:00Z&before=2026-01-01T00:00:00Z`)).status,
  ).toBe(422);
  expect((await api.call('GET', `${base}/attempts?subscription=sub_none`)).status).toBe(404);
});
