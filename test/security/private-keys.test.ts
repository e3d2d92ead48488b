import { verify } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePublicKey } from '../../src/subscriptions/signing-secret.ts';
import { captureCallback } from '../integration/docs/captured-callback.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../support/api/api-fixture.ts';
import { everyText } from '../support/redis/every-text.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture(client, redis.prefix);
});
afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

interface Shown {
  readonly id: string;
  readonly publicKeys: readonly { readonly key: string }[];
}

async function secretsOf(account: string, id: string) {
  const stored = await api.deps.subscriptions.get(account, id);
  return stored?.subscription.secrets ?? [];
}

test('a private key is in no answer and nowhere in Redis, in any form', async () => {
  const path = `${await api.createAccount('one')}/subscriptions`;
  const texts: string[] = [];
  const call = async (method: string, url: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await api.call(method, url, body, { headers });
    expect(answer.status).toBeLessThan(300);
    texts.push(answer.text + JSON.stringify(answer.headers));
    return answer.body;
  };
  const body = { url: hookUrl, signatures: ['v1', 'v1a'] };
  const { id } = await call('POST', path, body, { 'idempotency-key': 'k' });
  const one = `${path}/${String(id)}`;
  const privateKeys = (await secretsOf('one', String(id))).map(({ text }) => text);
  await call('POST', path, body, { 'idempotency-key': 'k' });
  await call('POST', `${one}/rotate-secret`);
  await call('PATCH', one, { signatures: ['v1a'] });
  await call('GET', one);
  await call('GET', path);
  await call('GET', '/.well-known/webhook-keys');
  await call('GET', `/.well-known/webhook-keys?subscription=${String(id)}`);
  privateKeys.push(...(await secretsOf('one', String(id))).map(({ text }) => text));
  texts.push(await everyText(client, `${redis.prefix}:`));
  const seeds = privateKeys
    .filter((text) => text.startsWith('whsk_'))
    .map((text) => Buffer.from(text.slice('whsk_'.length), 'base64').subarray(0, 32));
  expect(seeds.length).toBeGreaterThan(2);
  const all = texts.join('\n');
  expect(all).not.toContain('whsk_');
  for (const seed of seeds)
    for (const form of ['hex', 'base64', 'base64url'] as const)
      // The last characters of base64 depend on what follows.
      expect(all).not.toContain(seed.toString(form).slice(0, 40));
});

test('what is signed for one subscription verifies with the key of no other, of the account or of another', async () => {
  const shown: (Shown & { readonly account: string })[] = [];
  for (const account of ['first', 'second']) {
    const path = `${await api.createAccount(account)}/subscriptions`;
    for (let i = 0; i < 2; i += 1) {
      const made = await api.ok('POST', path, { url: hookUrl, signatures: ['v1a'] });
      shown.push({ ...(made as unknown as Shown), account });
    }
  }
  for (const { account, id } of shown) {
    const { headers, body } = await captureCallback([], Date.now(), {
      secrets: await secretsOf(account, id),
    });
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], ''].join('.');
    const signature = Buffer.from(headers['webhook-signature']?.slice('v1a,'.length) ?? '', 'base64');
    const verifies = shown.filter(({ publicKeys: [held] }) =>
      verify(null, Buffer.concat([Buffer.from(signed), body]), parsePublicKey(held?.key ?? ''), signature),
    );
    expect(verifies.map((one) => one.id)).toEqual([id]);
  }
});
