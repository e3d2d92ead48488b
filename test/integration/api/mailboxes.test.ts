import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDeps } from '../../../src/api/deps.ts';
import { checkMailUrl } from '../../../src/egress/mail-address.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const url = 'mailto:claims@agency.example';
let fixture: ApiFixture;
let subscriptions: string;

beforeAll(async () => {
  fixture = await createApiFixture(redis.connect(), redis.prefix, {
    checkMail: (text) => checkMailUrl(text, { allowDomains: ['agency.example'] }),
    verificationRule: { required: true, exemptHosts: ['agency.example', '127.0.0.1'] },
  });
  subscriptions = `${await fixture.createAccount('mail')}/subscriptions`;
});
afterAll(async () => {
  await fixture.app.close();
  await redis.cleanup();
});

async function errorsOf(body: Record<string, unknown>, method = 'POST', path = subscriptions) {
  const answer = await fixture.call(method, path, body);
  expect(answer.status).toBe(422);
  return answer.body['errors'];
}

test('a mailbox sets the format, and there is no secret', async () => {
  const made = await fixture.ok('POST', subscriptions, { url });
  expect(made).toMatchObject({ url, format: 'email', secret: null, publicKeys: [] });
  const path = `${subscriptions}/${String(made['id'])}`;
  expect(await errorsOf({}, 'POST', `${path}/rotate-secret`)).toMatchObject([{ path: 'secret' }]);
  expect(await errorsOf({ headers: { 'x-a': 'b' } }, 'PATCH', path)).toMatchObject([{ path: 'headers' }]);
  expect(await fixture.ok('PATCH', path, { description: 'Claims' })).toMatchObject({ format: 'email' });
});

test.each([
  [{ url: 'mailto:claims@other.example' }, 'url', 'SMTP_ALLOW_DOMAINS'],
  [{ url: 'mailto:claims@agency.example?subject=x' }, 'url', 'one plain address'],
  [{ url: 'mailto:…@agency.example' }, 'url', 'read-only token'],
  [{ url, format: 'slack' }, 'format', '"email"'],
  [{ url: hookUrl, format: 'email' }, 'format', 'mailto:'],
  [{ url, secret: `whsec_${'A'.repeat(32)}` }, 'secret', 'not signed'],
  [{ url, headers: { 'x-a': 'b' } }, 'headers', 'leave it out'],
  [{ url, signatures: ['v1a'] }, 'signatures', 'leave it out'],
  [{ url, verification: 'challenge' }, 'verification', 'leave it out'],
])('%j is refused with what to do', async (body, path, words) => {
  expect(await errorsOf(body)).toMatchObject([{ path, message: expect.stringContaining(words) }]);
});

test('a mailbox is no token endpoint', async () => {
  const auth = { type: 'oauth2', tokenUrl: url, clientId: 'a', clientSecret: 'b' };
  expect(await errorsOf({ url: hookUrl, auth })).toMatchObject([{ path: 'auth.tokenUrl' }]);
});

test('under REQUIRE_VERIFICATION a mailbox at another host is refused', async () => {
  await using other = await createStage({ checkMail: (text) => checkMailUrl(text, { allowDomains: null }) });
  const { status, body } = await other.call({ url: 'mailto:a@elsewhere.example' });
  expect(status).toBe(422);
  expect(body['errors']).toMatchObject([
    { path: 'url', message: expect.stringContaining('VERIFICATION_EXEMPT_HOSTS') },
  ]);
});

test('without a mail server a mailbox is refused with what the operator sets', async () => {
  await using other = await createStage({});
  const { status, body } = await other.call({ url });
  expect(status).toBe(422);
  expect(body['errors']).toMatchObject([{ path: 'url', message: expect.stringContaining('SMTP_URL') }]);
});

test('a change between an endpoint and a mailbox sets the format, drops what does not apply and makes a secret', async () => {
  const given = { url: hookUrl, headers: { 'x-a': 'b' }, format: 'slack' };
  const { id, secret } = await fixture.ok('POST', subscriptions, given);
  const path = `${subscriptions}/${String(id)}`;
  const toMail = await fixture.ok('PATCH', path, { url });
  expect(toMail).toMatchObject({ url, format: 'email', headers: {}, dropped: ['headers'] });
  expect(toMail['secret']).toBeUndefined();
  const back = await fixture.ok('PATCH', path, { url: hookUrl });
  expect(back).toMatchObject({ format: 'standard', secret: expect.stringMatching(/^whsec_/) });
  expect(back['secret']).not.toBe(secret);
});

test('a token that only watches does not see whose mailbox it is', async () => {
  const { token } = await fixture.ok('POST', '/v1/accounts/mail/tokens', { name: 'watcher', readOnly: true });
  const { body } = await fixture.call('GET', subscriptions, undefined, { token: String(token) });
  expect(JSON.stringify(body)).toContain('mailto:…@agency.example');
  expect(JSON.stringify(body)).not.toContain('claims@');
});

async function createStage(overrides: Partial<ApiDeps>) {
  const own = testRedis();
  const made = await createApiFixture(own.connect(), own.prefix, {
    verificationRule: { required: true, exemptHosts: ['agency.example'] },
    ...overrides,
  });
  const path = `${await made.createAccount('mail')}/subscriptions`;
  return {
    call: (body: object) => made.call('POST', path, body),
    async [Symbol.asyncDispose]() {
      await made.app.close();
      await own.cleanup();
    },
  };
}
