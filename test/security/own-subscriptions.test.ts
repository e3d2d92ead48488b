import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApiFixture, hookUrl, operatorToken, type ApiFixture } from '../support/api/api-fixture.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { commandsOf } from '../support/redis/watch-commands.ts';

const redis = testRedis();
const publicUrl = 'https://filings.example.com/page';
let api: ApiFixture;
let base: string;
let accounts = 0;
let account: string;
let path: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, ({ hooks, replayer }) => ({
    publicUrl,
    hooks,
    replayer,
  }));
  base = await api.app.listen({ host: '127.0.0.1', port: 0 });
});

beforeEach(async () => {
  account = `own-${(accounts += 1)}`;
  path = await api.createAccount(account);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

interface Tool {
  readonly id: string;
  readonly token: string;
}

async function tool(settings: object = {}): Promise<Tool> {
  const made = await api.ok('POST', `${path}/tokens`, { name: 'tool', subscriptions: 'own', ...settings });
  return { id: String(made['id']), token: String(made['token']) };
}

async function register(token: string, settings: object = {}, headers: Record<string, string> = {}) {
  const answer = await api.call(
    'POST',
    `${path}/subscriptions`,
    { url: hookUrl, ...settings },
    { token, headers },
  );
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

async function idsSeen(token: string, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const query = cursor === null ? '' : `&cursor=${cursor}`;
    // Each page's cursor comes from the page before.
    const { body } = await api.call('GET', `${path}/subscriptions?limit=${limit}${query}`, undefined, {
      token,
    });
    ids.push(...(body['items'] as { id: string }[]).map(({ id }) => id));
    cursor = body['nextCursor'] as string | null;
  } while (cursor !== null);
  return ids;
}

test('a token is made with its rights, and lists and sessions show them', async () => {
  const { id, token } = await tool({ name: 'n8n' });
  const { items } = await api.ok('GET', `${path}/tokens`);
  expect(items).toMatchObject([{ id, name: 'n8n', readOnly: false, subscriptions: 'own' }]);
  const { body } = await api.call('GET', '/v1/session', undefined, { token });
  expect(body).toMatchObject({ kind: 'account', account, readOnly: false, subscriptions: 'own' });
  expect(await api.ok('POST', `${path}/tokens`, { name: 'plain' })).toMatchObject({ subscriptions: 'all' });
});

test.each([
  ['"subscriptions":"own",', ''],
  ['"subscriptions":"own",', '"subscriptions":"other",'],
  ['"right":"manage",', ''],
  ['"right":"manage",', '"right":"everything",'],
])(
  'a stored token opens nothing with other rights than there are: in place of %s "%s"',
  async (known, rights) => {
    const { id, token } = await tool();
    const stored = (await api.stored.of(account).tokenTexts())[id] ?? '';
    expect(stored).toContain(known);
    await api.stored.of(account).setTokens({ [id]: stored.replace(known, rights) });
    expect((await api.call('GET', path, undefined, { token })).status).toBe(503);
  },
);

describe('lists', () => {
  test('show the subscriptions of the token alone, in pages, oldest first', async () => {
    const [one, other] = [await tool(), await tool()];
    const made: string[] = [];
    for (let i = 0; i < 7; i += 1) {
      // In the order of their age.
      const { body } = await register(one.token);
      made.push(String(body['id']));
      await register(i % 2 === 0 ? other.token : operatorToken);
    }
    expect((await idsSeen(one.token, 3)).toSorted()).toEqual(made.toSorted());
    expect(await idsSeen(one.token)).toEqual(
      (await idsSeen(operatorToken)).filter((id) => made.includes(id)),
    );
    expect(await idsSeen(other.token, 1)).toHaveLength(4);
    expect(await idsSeen((await tool()).token)).toEqual([]);
    expect(await idsSeen(operatorToken, 4)).toHaveLength(14);
    await api.ok('DELETE', `${path}/subscriptions/${made[3] ?? ''}`);
    expect(await idsSeen(one.token, 2)).toHaveLength(6);
    expect(await api.stored.of(account).subscriptionsOfTokens()).toBe(10);
  });

  test('read no subscription of others', async () => {
    const { token } = await tool();
    const others = await Promise.all(Array.from({ length: 20 }, () => register(operatorToken)));
    const theirs = others.map(({ body }) => String(body['id']));
    await register(token);
    const asked = (await commandsOf(redis, () => idsSeen(token))).join('\n');
    expect(asked).toContain('sub_');
    expect(theirs.filter((id) => asked.includes(id))).toEqual([]);
    expect(asked.toLowerCase()).not.toMatch(/"(?:hgetall|hvals|hkeys|hscan)" "[^"]*:subscriptions"/);
  });

  test('show no token but the one that asks', async () => {
    const [one] = [await tool({ name: 'one' }), await tool({ name: 'other' })];
    const { body } = await api.call('GET', `${path}/tokens`, undefined, { token: one.token });
    expect(body).toMatchObject({ items: [{ id: one.id }], nextCursor: null });
  });
});

test('the API names the token that made a subscription, whoever changed it since', async () => {
  const { id, token } = await tool();
  const plain = await api.ok('POST', `${path}/tokens`, { name: 'plain' });
  const made = (await register(token)).body;
  expect(made['createdBy']).toBe(id);
  const changed = await api.ok('PATCH', `${path}/subscriptions/${String(made['id'])}`, { description: 'a' });
  expect(changed['createdBy']).toBe(id);
  expect((await register(String(plain['token']))).body['createdBy']).toBe(plain['id']);
  expect((await register(operatorToken)).body['createdBy']).toBeNull();
});

test('an idempotency key of another token leads to nothing of its own', async () => {
  const [one, other] = [await tool(), await tool()];
  const key = { 'idempotency-key': 'the-same' };
  const first = await register(one.token, {}, key);
  const answers = [await register(other.token, {}, key), await register(operatorToken, {}, key)];
  for (const { body, headers } of answers) {
    expect(headers['idempotency-replayed']).toBeUndefined();
    expect(body['id']).not.toBe(first.body['id']);
    expect(body['secret']).not.toBe(first.body['secret']);
  }
  const again = await register(one.token, {}, key);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toMatchObject({ id: first.body['id'], createdBy: one.id });
});

test('a registration that is repeated with another token names the one that made it', async () => {
  const plain = await api.ok('POST', `${path}/tokens`, { name: 'plain' });
  const key = { 'idempotency-key': 'the-same' };
  await register(String(plain['token']), {}, key);
  expect((await register(operatorToken, {}, key)).body['createdBy']).toBe(plain['id']);
});

test('a read-only one registers nothing', async () => {
  const { token } = await tool({ readOnly: true });
  const refused = await api.call('POST', `${path}/subscriptions`, { url: hookUrl }, { token });
  expect(refused).toMatchObject({ status: 403, body: { code: 'read_only_token' } });
  expect(await idsSeen(token)).toEqual([]);
});

test('a refusal says what to do', async () => {
  const { token } = await tool();
  const refused = await api.call('POST', `${path}/tokens`, { name: 'child' }, { token });
  expect(refused).toMatchObject({ status: 403, body: { code: 'own_subscriptions_only' } });
  expect(refused.body['detail']).toContain('use one that was made without');
});

test('the subscriptions of a revoked token stay, for the operator and tokens of the account', async () => {
  const { id, token } = await tool();
  const made = String((await register(token)).body['id']);
  await api.ok('DELETE', `${path}/tokens/${id}`);
  expect((await api.call('GET', `${path}/subscriptions`, undefined, { token })).status).toBe(401);
  expect(await idsSeen(operatorToken)).toEqual([made]);
  expect(await idsSeen((await tool()).token)).toEqual([]);
  await api.ok('DELETE', `${path}/subscriptions/${made}`);
});

describe('what tells of other receivers', () => {
  async function logEvents(): Promise<void> {
    const types = ['filing.paid', 'subscription.disabled', 'account.certificate_expiring', 'account.stale'];
    const filings = types.map((type, i) => ({ id: `f_${i + 1}`, status: 'PAID', type }));
    // One after the other: this is their order in the log.
    for (const filing of filings) await api.putFilings(account, [filing]);
  }

  test('is neither listed nor found nor tried with such a token', async () => {
    await logEvents();
    const { token } = await tool();
    const types = async (query: string) => {
      const { body } = await api.call('GET', `${path}/events${query}`, undefined, { token });
      return (body['items'] as { type: string }[]).map(({ type }) => type);
    };
    expect(await types('')).toEqual(['filing.paid', 'account.stale']);
    expect(await types('?order=newest&limit=3')).toEqual(['account.stale', 'filing.paid']);
    expect(await types('?types=subscription.*,account.*')).toEqual(['account.stale']);
    expect(await types('?types=subscription.disabled')).toEqual([]);
    expect(await types('?filingId=f_1')).toEqual(['filing.paid']);
    const { items } = await api.ok('GET', `${path}/events?types=subscription.disabled`);
    const [hidden] = items as { id: string }[];
    for (const suffix of ['', '/deliveries']) {
      const url = `${path}/events/${hidden?.id ?? ''}${suffix}`;
      // One after the other: the searches of an account take turns.
      expect((await api.call('GET', url)).status).toBe(200);
      expect((await api.call('GET', url, undefined, { token })).body['code']).toBe('event_not_found');
    }
    const made = await register(token, { eventTypes: ['*'] });
    const replay = `${path}/subscriptions/${String(made.body['id'])}/replay`;
    const unknown = `evt_${'0'.repeat(32)}`;
    for (const query of ['', '?dryRun=true'])
      for (const eventIds of [[hidden?.id], [unknown], [unknown, hidden?.id]]) {
        // One after the other: the searches of an account take turns.
        const refused = await api.call('POST', replay + query, { eventIds }, { token });
        expect(refused.status).toBe(422);
        expect(refused.body['errors']).toEqual(
          eventIds.map((id, i) => ({
            path: `eventIds.${i}`,
            message: `${id} is no event in the log of this account`,
          })),
        );
      }
    const preview = { eventTypes: ['*'] };
    const seen = await api.call('POST', `${path}/subscriptions/preview`, preview, { token });
    expect(seen.body).toMatchObject({ matched: 2, of: 4 });
    expect(seen.text).not.toContain('subscription.disabled');
    expect(await api.ok('POST', `${path}/subscriptions/preview`, preview)).toMatchObject({ matched: 4 });
  });

  test('is not to be subscribed to: by its name it is refused, with a pattern it is left out', async () => {
    await logEvents();
    const { token } = await tool();
    for (const eventTypes of [['subscription.*'], ['filing.*', 'subscription.fell_behind']]) {
      const refused = await api.call(
        'POST',
        `${path}/subscriptions`,
        { url: hookUrl, eventTypes },
        { token },
      );
      expect(refused.body).toMatchObject({
        code: 'invalid_request',
        errors: [{ path: `eventTypes.${eventTypes.length - 1}` }],
      });
    }
    const settings = { eventTypes: ['*'], from: 'earliest' };
    const { body } = await register(token, settings);
    expect(body['lag']).toBe(2);
    expect((await register(operatorToken, settings)).body['lag']).toBe(4);
    const changed = await api.call('PATCH', `${path}/subscriptions/${String(body['id'])}`, {
      eventTypes: ['subscription.disabled'],
    });
    expect(changed.status).toBe(422);
    const stored = await api.stored.of(account).subscriptionText(String(body['id']));
    expect(JSON.parse(stored ?? '')).toMatchObject({ confined: true });
  });

  test('attempts and deliveries of all subscriptions are those of its own', async () => {
    await api.putFilings(account, [{ id: 'f_1', status: 'PAID', type: 'filing.paid' }]);
    const { items } = await api.ok('GET', `${path}/events`);
    const eventId = (items as { id: string }[])[0]?.id ?? '';
    const [one, other] = [await tool(), await tool()];
    const [mine, theirs] = [await register(one.token), await register(other.token)].map(({ body }) =>
      String(body['id']),
    );
    for (const id of [mine, theirs]) {
      const attempt = { eventId, eventType: 'filing.paid', filingId: 'f_1', attempt: 1, at: 1 };
      const outcome = { outcome: 'timeout', statusCode: null, durationMs: 1, response: null, replay: null };
      // One after the other: the searches of an account take turns.
      await api.stored
        .of(account)
        .of(id ?? '')
        .addAttempts([{ ...attempt, ...outcome }], '1-1');
    }
    const seen = async (suffix: string, token: string) => {
      const { body } = await api.call('GET', path + suffix, undefined, { token });
      return (body['items'] as { subscription: string }[]).map(({ subscription }) => subscription);
    };
    for (const suffix of ['/attempts', `/attempts?eventId=${eventId}`, `/events/${eventId}/deliveries`]) {
      expect(await seen(suffix, one.token)).toEqual([mine]);
      expect(new Set(await seen(suffix, operatorToken))).toEqual(new Set([mine, theirs]));
      expect(await seen(suffix, (await tool()).token)).toEqual([]);
    }
    const named = (id: string | undefined) =>
      api.call('GET', `${path}/attempts?subscription=${id ?? ''}`, undefined, { token: one.token });
    expect((await named(mine)).status).toBe(200);
    expect(await named(theirs)).toMatchObject({ status: 404, text: (await named('sub_0')).text });
  });
});

describe('Location', () => {
  test('is an address with which alone the token removes what it made', async () => {
    const { token } = await tool();
    const authorization = `Bearer ${token}`;
    const made = await fetch(`${base}${path}/subscriptions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ url: hookUrl }),
    });
    const location = made.headers.get('location') ?? '';
    expect(location).toBe(`${publicUrl}${path}/subscriptions/${((await made.json()) as { id: string }).id}`);
    // The proxy that the operator has put in front of the daemon.
    const remove = () =>
      fetch(location.replace(publicUrl, base), { method: 'DELETE', headers: { authorization } });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect(await idsSeen(operatorToken)).toEqual([]);
  });

  test('is absolute in each answer that has one, and relative without PUBLIC_URL', async () => {
    const created = await api.call('PUT', `/v1/accounts/${account}-2`, {
      baseUrl: 'http://127.0.0.1:4010/v1',
      partnerKey: 'sandbox-key',
    });
    expect(created.headers['location']).toBe(`${publicUrl}/v1/accounts/${account}-2`);
    const id = String((await register(operatorToken)).body['id']);
    const replay = await api.call('POST', `${path}/subscriptions/${id}/replay`, {});
    expect(replay.headers['location']).toBe(
      `${publicUrl}${path}/subscriptions/${id}/replays/${String(replay.body['id'])}`,
    );
    const plain = await createApiFixture(redis.connect(), `${redis.prefix}-plain`);
    const put = await plain.call('PUT', '/v1/accounts/one', {
      baseUrl: 'http://127.0.0.1:4010/v1',
      partnerKey: 'sandbox-key',
    });
    expect(put.headers['location']).toBe('/v1/accounts/one');
    await plain.app.close();
  });
});
