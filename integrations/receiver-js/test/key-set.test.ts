import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { CallbackError, createVerifier } from '../src/index.ts';
import { filingEvent, newKeyPair, signed } from './support/sign.ts';

/** A server of a JWKS that counts its requests, and a clock that is set by hand. */
async function startKeys() {
  const state = {
    keys: [] as Record<string, unknown>[],
    status: 200,
    body: null as string | null,
    requests: 0,
    now: Date.parse('2026-11-21T10:00:00Z'),
  };
  const server = createServer((request, response) => {
    state.requests += 1;
    if (request.url === '/elsewhere') return response.end(JSON.stringify({ keys: state.keys }));
    const headers = { 'content-type': 'application/jwk-set+json', location: '/elsewhere' };
    return response.writeHead(state.status, headers).end(state.body ?? JSON.stringify({ keys: state.keys }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const verifier = createVerifier({
    keySetUrl: `http://127.0.0.1:${port}/keys?subscription=sub_1`,
    now: () => state.now,
  });
  const verify = (pair: ReturnType<typeof newKeyPair>) => {
    const { headers, body } = signed(filingEvent(1), { at: state.now, privateKeys: [pair.privateKey] });
    return verifier.verify(headers, body).then(
      () => 'verified',
      (error: unknown) => (error instanceof CallbackError ? error.code : String(error)),
    );
  };
  return { state, verify, [Symbol.dispose]: () => void server.close() };
}

test('keys are fetched once for many callbacks, also for those that come at once', async () => {
  using keys = await startKeys();
  const pair = newKeyPair();
  keys.state.keys = [{ kty: 'EC', crv: 'P-256' }, pair.jwk];
  assert.deepEqual(
    new Set(await Promise.all(Array.from({ length: 20 }, () => keys.verify(pair)))),
    new Set(['verified']),
  );
  assert.equal(keys.state.requests, 1);
  keys.state.now += 5 * 60_000 + 1;
  assert.equal(await keys.verify(pair), 'verified');
  assert.equal(keys.state.requests, 2);
});

test('an unknown key is looked for at most twice a minute, however many forged callbacks come', async () => {
  using keys = await startKeys();
  const [known, next, forged] = [newKeyPair(), newKeyPair(), newKeyPair()];
  keys.state.keys = [known.jwk];
  assert.equal(await keys.verify(known), 'verified');
  keys.state.keys = [next.jwk, known.jwk];
  assert.equal(await keys.verify(next), 'signature_mismatch'); // fetched a moment ago
  keys.state.now += 30_000;
  assert.equal(await keys.verify(next), 'verified');
  for (let n = 0; n < 50; n += 1) assert.equal(await keys.verify(forged), 'signature_mismatch');
  assert.equal(keys.state.requests, 2);
  keys.state.now += 30_000;
  assert.equal(await keys.verify(forged), 'signature_mismatch');
  assert.equal(keys.state.requests, 3);
});

test('while the daemon does not answer, the keys that are there count for a day', async () => {
  using keys = await startKeys();
  const pair = newKeyPair();
  keys.state.keys = [pair.jwk];
  assert.equal(await keys.verify(pair), 'verified');
  keys.state.status = 503;
  for (const hours of [1, 23]) {
    keys.state.now = Date.parse('2026-11-21T10:00:00Z') + hours * 3_600_000;
    assert.equal(await keys.verify(pair), 'verified');
  }
  keys.state.now += 2 * 3_600_000;
  assert.equal(await keys.verify(pair), 'keys_unavailable');
});

test('an answer that is no set of keys is no key: a redirect, a page, an endless list', async () => {
  using keys = await startKeys();
  const pair = newKeyPair();
  const answers: [number, string | null][] = [
    [302, null],
    [404, null],
    [200, '<html>'],
    [200, '{"keys":[]}'],
    [200, '{"keys":{}}'],
    [200, JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }] })],
    [200, JSON.stringify({ keys: [pair.jwk], more: ' '.repeat(3_000_000) })],
  ];
  keys.state.keys = [pair.jwk];
  for (const [status, body] of answers) {
    Object.assign(keys.state, { status, body, now: keys.state.now + 1_000 });
    assert.equal(await keys.verify(pair), 'keys_unavailable', String(body).slice(0, 80));
  }
  Object.assign(keys.state, { status: 200, body: null, now: keys.state.now + 1_000 });
  assert.equal(await keys.verify(pair), 'verified');
});

test('keys are fetched over https, from this machine, or where http was allowed', () => {
  for (const keySetUrl of ['http://daemon.example.com/keys', 'ftp://127.0.0.1/', 'keys'])
    assert.throws(() => createVerifier({ keySetUrl }), /not https|no address/);
  createVerifier({ keySetUrl: 'http://daemon.internal/keys', allowHttp: true });
  createVerifier({ keySetUrl: 'https://daemon.example.com/keys' });
});
