import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { CallbackError, ConfigurationError, createVerifier, type VerifierOptions } from '../src/index.ts';
import { filingEvent, newKeyPair, otherSecret, secret, signed, type SignedCallback } from './support/sign.ts';

const now = Date.parse('2026-11-21T10:00:00Z');
const event = filingEvent(1, { note: 'ä€😀' });

function verify(options: VerifierOptions, { headers, body }: SignedCallback) {
  return createVerifier({ now: () => now, ...options }).verify(headers, body);
}

function refuses(code: string, message: RegExp, verifying: Promise<unknown>) {
  return assert.rejects(verifying, (error) => {
    assert.ok(error instanceof CallbackError, String(error));
    assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
    return true;
  });
}

test('a v1 signature verifies with the secret, on the bytes as received, and gives the event', async () => {
  const callback = signed(event, { id: 'evt_1', at: now });
  assert.deepEqual(await verify({ secrets: secret }, callback), {
    id: 'evt_1',
    sentAt: new Date(now),
    event,
    format: 'standard',
  });
  const headers = new Headers(callback.headers);
  assert.equal(
    (await createVerifier({ secrets: secret, now: () => now }).verify(headers, callback.body)).id,
    'evt_1',
  );
  const changed = Buffer.from(JSON.stringify(event, null, 1));
  await refuses(
    'signature_mismatch',
    /No v1 signature/,
    verify({ secrets: secret }, { ...callback, body: changed }),
  );
});

test('during a rotation either secret verifies a callback that both have signed, and a receiver with both takes either', async () => {
  const both = signed(event, { at: now, secrets: [otherSecret, secret] });
  await verify({ secrets: secret }, both);
  await verify({ secrets: otherSecret }, both);
  for (const one of [secret, otherSecret]) {
    await verify({ secrets: [secret, otherSecret] }, signed(event, { at: now, secrets: [one] }));
    await verify({ secrets: `${secret} ${otherSecret}` }, signed(event, { at: now, secrets: [one] }));
  }
  await refuses(
    'signature_mismatch',
    /another subscription/,
    verify({ secrets: otherSecret }, signed(event, { at: now })),
  );
});

test('bodies that are no text are verified as bytes', async () => {
  const id = 'evt_1';
  const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  const seconds = String(now / 1000);
  const { createHmac } = await import('node:crypto');
  const mac = createHmac('sha256', Buffer.alloc(32, 1))
    .update(`${id}.${seconds}.`)
    .update(body)
    .digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` };
  await refuses('malformed_body', /no JSON/, verify({ secrets: secret }, { headers, body }));
  const replaced = Buffer.from(body.toString('utf8'));
  await refuses('signature_mismatch', /./, verify({ secrets: secret }, { headers, body: replaced }));
});

test('a v1a signature verifies with the public key; a v1 beside it counts for nothing', async () => {
  const [mine, other] = [newKeyPair(), newKeyPair()];
  const callback = signed(event, {
    at: now,
    privateKeys: [other.privateKey, mine.privateKey],
    secrets: [secret],
  });
  await verify({ publicKeys: mine.publicKey }, callback);
  await verify({ publicKeys: [newKeyPair().publicKey, other.publicKey] }, callback);
  await refuses('signature_mismatch', /No v1a/, verify({ publicKeys: newKeyPair().publicKey }, callback));
  await refuses(
    'signature_mismatch',
    /signed with v1 alone.*\["v1a"\]/,
    verify({ publicKeys: mine.publicKey }, signed(event, { at: now })),
  );
  const v1aAlone = signed(event, { at: now, privateKeys: [mine.privateKey] });
  await refuses(
    'signature_mismatch',
    /signed with v1a alone.*publicKeys/,
    verify({ secrets: secret }, v1aAlone),
  );
});

test('callbacks of up to five minutes before and after now are taken, others are refused with the distance', async () => {
  for (const seconds of [-300, 300])
    await verify({ secrets: secret }, signed(event, { at: now + seconds * 1000 }));
  const refused = (at: number) => verify({ secrets: secret }, signed(event, { at }));
  await refuses('timestamp_out_of_tolerance', /301 seconds old/, refused(now - 301_000));
  await refuses('timestamp_out_of_tolerance', /301 seconds in the future/, refused(now + 301_000));
  await verify({ secrets: secret, toleranceSeconds: 600 }, signed(event, { at: now - 600_000 }));
});

test('headers that are missing, of another form or in another order of content are refused', async () => {
  const callback = signed(event, { id: 'evt_1', at: now });
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const headers = { ...callback.headers, [name]: '' };
    await refuses('missing_header', new RegExp(name), verify({ secrets: secret }, { ...callback, headers }));
  }
  for (const change of [
    { 'webhook-id': 'evt.1' },
    { 'webhook-timestamp': '1e9' },
    { 'webhook-timestamp': '-5' },
  ])
    await refuses(
      'malformed_header',
      /another form/,
      verify({ secrets: secret }, { ...callback, headers: { ...callback.headers, ...change } }),
    );
  const moved = { ...callback.headers, 'webhook-id': 'evt_2' };
  await refuses('signature_mismatch', /./, verify({ secrets: secret }, { ...callback, headers: moved }));
});

test('every bit of a signature counts, and thousands of entries cost no more than a few', async () => {
  const callback = signed(event, { at: now });
  const bytes = Buffer.from(String(callback.headers['webhook-signature']).slice(3), 'base64');
  for (const index of bytes.keys()) {
    const forged = Buffer.from(bytes);
    forged[index] = (forged[index] ?? 0) ^ 1;
    const headers = { ...callback.headers, 'webhook-signature': `v1,${forged.toString('base64')}` };
    await refuses('signature_mismatch', /./, verify({ secrets: secret }, { ...callback, headers }));
  }
  for (const signature of ['v1,', 'v1', 'v1,%%%', `v1,${bytes.toString('base64')}AAAA`, 'v2,abc'])
    await refuses(
      'signature_mismatch',
      /./,
      verify(
        { secrets: secret },
        { ...callback, headers: { ...callback.headers, 'webhook-signature': signature } },
      ),
    );
  const { publicKey } = newKeyPair();
  const body = randomBytes(1_000_000);
  const many = Array.from({ length: 5_000 }, () => `v1a,${randomBytes(64).toString('base64')}`).join(' ');
  const begun = performance.now();
  await refuses(
    'signature_mismatch',
    /./,
    verify({ publicKeys: publicKey }, { headers: { ...callback.headers, 'webhook-signature': many }, body }),
  );
  assert.ok(performance.now() - begun < 2_000);
});

test('a receiver that is set up wrongly is refused with what to do, before it verifies with an empty key', async () => {
  for (const options of [{}, { secrets: secret, publicKeys: newKeyPair().publicKey }])
    assert.throws(() => createVerifier(options as never), /exactly one of secrets, publicKeys and keySetUrl/);
  const wrong: [VerifierOptions, RegExp][] = [
    ...[undefined, null, '', ' ', [], [undefined], ['']].map((secrets): [VerifierOptions, RegExp] => [
      { secrets: secrets as never },
      /^`secrets` is empty: is WEBHOOK_SECRET set\?/,
    ]),
    [{ secrets: undefined as never, publicKeys: [] as never }, /^`publicKeys` is empty/],
    [{ publicKeys: undefined as never }, /^`publicKeys` is empty/],
    [{ keySetUrl: undefined as never }, /^`keySetUrl` is empty/],
    [{ secrets: 'whsec_c2hvcnQ=' }, /24 to 64 bytes/],
    [{ secrets: [secret, 'whsec_%'] }, /24 to 64 bytes/],
    [{ publicKeys: 'whpk_AAAA' }, /32 bytes/],
  ];
  for (const [options, message] of wrong)
    await assert.rejects(
      (async () => createVerifier(options).ready)(),
      (error) => error instanceof ConfigurationError && message.test(error.message),
    );
});
