import { describe, expect, test } from 'vitest';
import { parseHeaders, verifyCallback } from '../../../../src/cli/events/verify-callback.ts';
import { signedHeaders } from '../../../../src/callbacks/sign.ts';
import {
  generatePrivateKey,
  generateSecret,
  parsePublicKey,
  parseSecret,
  parseSigner,
  publicKeyOf,
} from '../../../../src/subscriptions/signing-secret.ts';

const key = parseSecret(generateSecret());
const other = parseSecret(generateSecret());
const now = Date.UTC(2026, 10, 21, 10);
const timestamp = now / 1000;
const body = Buffer.from('{"type":"ping","data":{"premium":1200.10}}');

function callback(changes: Record<string, string> = {}, bytes: Buffer = body) {
  const headers = {
    ...signedHeaders([key], 'evt_1', timestamp, body),
    ...changes,
  };
  return { headers: new Map(Object.entries(headers)), body: bytes };
}

describe('a captured callback', () => {
  test('is genuine with the secret that signed it', () => {
    expect(verifyCallback(callback(), key, now)).toEqual({ ok: true, id: 'evt_1', sentAt: now });
  });

  test('is genuine when one of several signatures fits, as during a rotation', () => {
    const both = callback({ ...signedHeaders([other, key], 'evt_1', timestamp, body) });
    expect(verifyCallback(both, key, now)).toMatchObject({ ok: true });
  });

  const rewritten = Buffer.from('{"n":1}');
  const signedRewritten = { ...signedHeaders([key], 'evt_1', timestamp, rewritten) };
  test.each([
    ['another secret', callback(), other, now, /another secret/],
    ['a changed id', callback({ 'webhook-id': 'evt_2' }), key, now, /another secret/],
    [
      'a changed timestamp',
      callback({ 'webhook-timestamp': String(timestamp + 1) }),
      key,
      now,
      /another secret/,
    ],
    ['a missing header', callback({ 'webhook-signature': '' }), key, now, /webhook-signature missing/],
    [
      'a timestamp that is none',
      callback({ 'webhook-timestamp': 'today' }),
      key,
      now,
      /no number of seconds/,
    ],
    ['an old timestamp', callback(), key, now + 301_000, /5 minutes ago/],
    ['a timestamp of the future', callback(), key, now - 601_000, /10 minutes in the future/],
    [
      'a line break at the end',
      callback({}, Buffer.from(`${body.toString()}\n`)),
      key,
      now,
      /line break at its end/,
    ],
    [
      'spaces that were not sent',
      callback(signedRewritten, Buffer.from('{ "n": 1 }')),
      key,
      now,
      /parsed and written again/,
    ],
    ['a cut body', callback({}, body.subarray(1)), key, now, /another secret/],
  ])('is refused with %s, and the reason says so', (_, captured, held, at, reason) => {
    const found = verifyCallback(captured, held, at);
    expect(found).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
  });

  describe('with public keys', () => {
    const [one, two] = [generatePrivateKey(), generatePrivateKey()];
    const publicKey = (text: string) => parsePublicKey(publicKeyOf(text));
    const signed = (...texts: string[]) =>
      callback({ ...signedHeaders(texts.map(parseSigner), 'evt_1', timestamp, body) });

    test('is genuine with the key that signed it, among others and beside v1', () => {
      const both = callback({ ...signedHeaders([key, parseSigner(one)], 'evt_1', timestamp, body) });
      for (const captured of [signed(one), signed(two, one), both]) {
        expect(verifyCallback(captured, [publicKey(one)], now)).toMatchObject({ ok: true });
        expect(verifyCallback(captured, [publicKey(two), publicKey(one)], now)).toMatchObject({ ok: true });
      }
      expect(verifyCallback(both, key, now)).toMatchObject({ ok: true });
    });

    test.each([
      ['another key', signed(two), /another key/],
      ['v1 alone', callback(), /no v1a signature, only v1, which the secret verifies/],
      [
        'a v1 signature called v1a',
        callback({ 'webhook-signature': `v1a,${'A'.repeat(43)}=` }),
        /another key/,
      ],
      ['a changed body', { ...signed(one), body: Buffer.from('{}') }, /another key/],
    ])('is refused with %s', (_, captured, reason) => {
      const found = verifyCallback(captured, [publicKey(one)], now);
      expect(found).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
    });

    test('a secret does not verify v1a alone, and the reason says what does', () => {
      expect(verifyCallback(signed(one), key, now)).toEqual({
        ok: false,
        reason: expect.stringContaining('a public key (--key, --keys)') as string,
      });
    });
  });

  test('may be of any age where that is asked for', () => {
    expect(verifyCallback(callback(), key, null)).toMatchObject({ ok: true });
  });
});

test('headers are read as a capture, curl -v or a log shows them', () => {
  const lines = ['POST /hooks HTTP/1.1', 'Webhook-Id: evt_1', '> webhook-timestamp: 1 ', '', 'x'];
  expect(parseHeaders(lines)).toEqual(
    new Map([
      ['webhook-id', 'evt_1'],
      ['webhook-timestamp', '1'],
    ]),
  );
});
