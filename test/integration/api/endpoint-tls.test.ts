import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import {
  createTestAuthority,
  type Issued,
  type TestAuthority,
} from '../../support/receivers/certificates.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { skipWithout } from '../../support/skip-without.ts';
import { tlsErrors } from '../../../src/subscriptions/options/tls.ts';

const redis = testRedis();
const client = redis.connect();
const url = 'https://hooks.example.com/tls';
let fixture: ApiFixture;
let path: string;
let authority: TestAuthority;
let [alice, bob]: Issued[] = [];

const day = 86_400_000;
const generated = (...args: string[]) =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

describe.skipIf(skipWithout('openssl'))('tls of a subscription (skipped without openssl)', () => {
  beforeAll(async () => {
    fixture = await createApiFixture(client, redis.prefix);
    path = `${await fixture.createAccount('tls')}/subscriptions`;
    authority = await createTestAuthority();
    [alice, bob] = await Promise.all([authority.issue('alice'), authority.issue('bob')]);
  });
  afterAll(async () => {
    await authority[Symbol.asyncDispose]();
    await fixture.app.close();
    await redis.cleanup();
  });

  it('is shown without its key and replaced as a whole, and null removes it', async () => {
    const tls = { ...alice, ca: `Corporate bundle\n${authority.cert}` };
    const made = await fixture.ok('POST', path, { url, tls });
    expect(made['tls']).toMatchObject({
      cert: { subject: 'CN=alice', issuer: 'CN=test authority', notAfter: expect.stringMatching(/Z$/) },
      ca: { certificates: 1, subject: 'CN=test authority' },
    });
    const own = `${path}/${String(made['id'])}`;
    const answers = [made, await fixture.ok('GET', own), await fixture.ok('GET', path)];
    expect(JSON.stringify(answers)).not.toMatch(/PRIVATE KEY|BEGIN/);
    expect(answers[1]).toMatchObject({ tls: made['tls'] });
    const stored = (await fixture.stored.of('tls').subscriptionTexts()).join();
    expect(stored).not.toMatch(/BEGIN|alice/);
    expect(await fixture.ok('PATCH', own, { description: 'x' })).toMatchObject({ tls: made['tls'] });
    expect(await fixture.ok('PATCH', own, { tls: { ca: authority.cert } })).toMatchObject({
      tls: { cert: null, ca: { certificates: 1 } },
    });
    expect(await fixture.ok('PATCH', own, { tls: null })).toMatchObject({ tls: null });
    expect((await fixture.ok('POST', path, { url }))['tls']).toBeNull();
  });

  it('does not go along to another origin, nor with http', async () => {
    const made = await fixture.ok('POST', path, { url, tls: alice });
    const own = `${path}/${String(made['id'])}`;
    expect(await fixture.ok('PATCH', own, { url: `${url}/elsewhere` })).toMatchObject({ tls: made['tls'] });
    const moved = await fixture.ok('PATCH', own, { url: 'https://elsewhere.example.com/' });
    expect(moved).toMatchObject({ tls: null, dropped: ['tls'] });
    const needsHttps = {
      status: 422,
      body: { errors: [{ path: 'tls', message: 'needs a URL with https' }] },
    };
    const plain = 'http://127.0.0.1:9000/hook';
    expect(await fixture.call('POST', path, { url: plain, tls: alice })).toMatchObject(needsHttps);
    expect(await fixture.call('PATCH', own, { url: plain, tls: alice })).toMatchObject(needsHttps);
    await fixture.ok('PATCH', own, { url: plain });
    expect(await fixture.call('PATCH', own, { tls: alice })).toMatchObject(needsHttps);
  });

  it('is refused with what to do, and no word of the key', async () => {
    const { cert = '', key = '' } = alice ?? {};
    const passphrase = generated('genpkey', '-algorithm', 'ed25519', '-aes256', '-pass', 'pass:word');
    const weak = await authority.issue('weak', { key: ['rsa:1024'] });
    const cases: [Record<string, unknown>, string, RegExp][] = [
      [{}, 'tls', /is empty/],
      [{ cert }, 'tls.key', /is missing/],
      [{ key }, 'tls.cert', /is missing/],
      [{ cert: 'hello', key }, 'tls.cert', /has to be PEM/],
      [{ cert: cert.replaceAll('\n', '\\n'), key }, 'tls.cert', /backslash/],
      [{ cert: cert.replace(/MII.{40}/, 'MII'), key }, 'tls.cert', /cannot be read/],
      [{ cert, key: 'hello' }, 'tls.key', /has to be PEM/],
      [{ cert, key: passphrase }, 'tls.key', /passphrase.*openssl pkey/],
      [{ cert, key: key.replace(/M.{30}/, 'M') }, 'tls.key', /cannot be read/],
      [{ cert, key: bob?.key }, 'tls.key', /does not belong/],
      [{ cert: authority.cert + cert, key }, 'tls.cert tls.key', /out of order/],
      [{ cert: cert + String(bob?.cert), key }, 'tls.cert', /out of order/],
      [{ ...weak }, 'tls.cert', /OpenSSL .*too small/],
      [{ ca: cert }, 'tls.ca', /no authority/],
      [{ ca: 'hello' }, 'tls.ca', /has to be PEM/],
      [{ cert: 'x'.repeat(16_385), key }, 'tls.cert', /./],
      [{ passphrase: 'word' }, 'tls.passphrase', /./],
    ];
    for (const [tls, at, message] of cases) {
      const answer = await fixture.call('POST', path, { url, tls });
      const { errors } = answer.body as { errors: { path: string; message: string }[] };
      expect([answer.status, errors.map((each) => each.path).join(' ')]).toEqual([422, at]);
      expect(errors[0]?.message).toMatch(message);
      expect(answer.text).not.toContain(key.split('\n')[1]);
    }
  });

  it('is refused before and after the time of its certificates', () => {
    const tls = { ...alice, ca: authority.cert };
    expect(tlsErrors(tls, Date.now())).toEqual([]);
    expect(tlsErrors(tls, Date.now() - 2 * day)).toEqual([
      { path: 'tls.cert', message: expect.stringMatching(/is not valid yet/) },
    ]);
    expect(tlsErrors(tls, Date.now() + 366 * day)).toEqual([
      { path: 'tls.cert', message: expect.stringMatching(/expired, number 1/) },
    ]);
    expect(tlsErrors(tls, Date.now() + 3_660 * day)).toMatchObject([
      { path: 'tls.cert' },
      { path: 'tls.ca', message: expect.stringMatching(/expired.*leave it out/) },
    ]);
  });
});
