import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificateWarnings } from '../../../src/subscriptions/certificate-warnings.ts';
import type { Certificate } from '../../../src/subscriptions/options/tls.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';

const redis = testRedis();
const client = redis.connect();
const day = 86_400_000;
const end = Date.parse('2030-01-31T00:00:00.000Z');
let fixture: ApiFixture;
let now = 0;

beforeAll(async () => {
  fixture = await createApiFixture(client, redis.prefix);
});
afterAll(async () => {
  await fixture.app.close();
  await redis.cleanup();
});

function certificate(name: string, notAfter = end): Certificate {
  const names = { subject: `CN=${name}`, issuer: 'CN=ca', serialNumber: '01' };
  return { ...names, fingerprint: name, notAfter: new Date(notAfter).toISOString() };
}

const withTls = (
  cert: Certificate | null,
  ca: Certificate | null = null,
): NonNullable<Subscription['tls']> => ({
  cert: cert && 'c',
  key: cert && 'k',
  ca: ca && 'a',
  shown: { cert, ca: ca && { certificates: 1, ...ca } },
});

/** An account with one subscription, and two processes that look for its certificates. */
async function stage(account: string, tls: Subscription['tls']) {
  const path = await fixture.createAccount(account);
  const { id } = await fixture.ok('POST', `${path}/subscriptions`, { url: 'https://a.example/x' });
  const { subscriptions } = fixture.deps;
  const change = (next: Subscription['tls']) =>
    subscriptions.update(account, String(id), ({ subscription }) => ({
      subscription: { ...subscription, tls: next ?? null },
      release: false,
    }));
  await change(tls);
  const open = () => createCertificateWarnings(client, fixture.keys, subscriptions, () => now);
  const [one, other] = [open(), open()];
  const warned = async () => {
    const both = await Promise.all([one.warn(account), other.warn(account)]);
    return both.flat().map(({ event }) => (JSON.parse(event.body) as { data: unknown }).data);
  };
  return { id: String(id), change, warned, one, path, stored: fixture.stored.of(account) };
}

test('warns thirty days before and at the end, once each over all processes', async () => {
  const { id, warned, path, one } = await stage(
    'ends',
    withTls(certificate('alice'), certificate('ca', end + day)),
  );
  expect(await one.firstEnd('ends')).toBe(end);
  now = end - 30 * day - 1;
  expect(await warned()).toEqual([]);
  now += 1;
  const about = { account: 'ends', subscription: id, endpoint: 'https://a.example' };
  const expected = {
    ...about,
    certificate: 'cert',
    subject: 'CN=alice',
    notAfter: '2030-01-31T00:00:00.000Z',
  };
  expect(await warned()).toEqual([{ ...expected, expired: false }]);
  expect(await warned()).toEqual([]);
  now = end + day;
  expect(await warned()).toMatchObject([
    { certificate: 'ca', expired: true },
    { ...expected, expired: true },
  ]);
  expect(await warned()).toEqual([]);
  const { items } = await fixture.listAll<{ type: string }>(path.replace(/$/, '/events'));
  expect(items.map(({ type }) => type)).toEqual(Array(3).fill('account.certificate_expiring'));
});

test('a certificate that is given again is not warned of again, another one is', async () => {
  now = end;
  const { change, warned, one } = await stage('given', withTls(certificate('alice')));
  expect(await warned()).toMatchObject([{ subject: 'CN=alice', expired: true }]);
  await change(withTls(certificate('alice')));
  expect(await warned()).toEqual([]);
  await change(withTls(certificate('bob', end + 29 * day)));
  expect(await one.firstEnd('given')).toBe(end + 29 * day);
  expect(await warned()).toMatchObject([{ subject: 'CN=bob', expired: false }]);
});

test.each(['PATCH', 'DELETE', 'gone'])('nothing is warned of after %s', async (how) => {
  now = end;
  const { id, change, warned, one, path, stored } = await stage(
    `no-${how.toLowerCase()}`,
    withTls(certificate('alice')),
  );
  if (how === 'PATCH') await change(null);
  else if (how === 'DELETE') await fixture.ok('DELETE', `${path}/subscriptions/${id}`);
  else await stored.dropSubscriptions(id);
  expect(await warned()).toEqual([]);
  expect(await one.firstEnd(`no-${how.toLowerCase()}`)).toBeNull();
  expect(await stored.certificates()).toBe(0);
});
