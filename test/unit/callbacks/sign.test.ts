import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isSignedWith, signedHeaders, type SignedHeaders } from '../../../src/callbacks/sign.ts';
import { generateSecret, parseSecret } from '../../../src/subscriptions/signing-secret.ts';

const nowSeconds = Math.floor(Date.now() / 1000);
const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf);

/** What the reference library and `isSignedWith` say of the headers. */
function verifies(secret: string, headers: SignedHeaders, body: string): readonly boolean[] {
  return [
    verifiesByLibrary(secret, headers, body),
    isSignedWith(parseSecret(secret), headers, Buffer.from(body)),
  ];
}

function verifiesByLibrary(secret: string, headers: SignedHeaders, body: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

const both = (verdict: boolean) => [verdict, verdict];

describe('a signature', () => {
  it('is the HMAC-SHA256 of id, timestamp and body', () => {
    const key = parseSecret(secretOf(Buffer.alloc(24, 7)));
    const expected = createHmac('sha256', Buffer.alloc(24, 7))
      .update('evt_1.1700000000.{"a":1}')
      .digest('base64');
    expect(signedHeaders([key], 'evt_1', 1_700_000_000, Buffer.from('{"a":1}'))).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${expected}`,
    });
  });

  it('is verified by the standardwebhooks library and by us, for any secret, id and body', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.stringMatching(/^evt_[\w-]{1,40}$/),
        fc.string({ unit: 'grapheme' }),
        (secret, id, body) => {
          const headers = signedHeaders([parseSecret(secret)], id, nowSeconds, Buffer.from(body));
          const reference = new Webhook(secret).sign(id, new Date(nowSeconds * 1000), body);
          expect(headers['webhook-signature']).toBe(reference);
          expect(verifies(secret, headers, body)).toEqual(both(true));
        },
      ),
    );
  });

  it('is verified with either secret while a secret is being rotated, and with no other', () => {
    const [fresh, old, other] = [generateSecret(), generateSecret(), generateSecret()];
    const keys = [parseSecret(fresh), parseSecret(old)];
    const headers = signedHeaders(keys, 'evt_1', nowSeconds, Buffer.from('{}'));
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    expect([fresh, old, other].map((secret) => verifies(secret, headers, '{}'))).toEqual([
      both(true),
      both(true),
      both(false),
    ]);
    expect(verifies(fresh, { ...headers, 'webhook-id': 'evt_2' }, '{}')).toEqual(both(false));
    expect(verifies(fresh, headers, '{ }')).toEqual(both(false));
    const former = { ...headers, 'webhook-timestamp': String(nowSeconds - 1) };
    expect(verifies(fresh, former, '{}')).toEqual(both(false));
  });

  it('is of the bytes as they are, though they are no UTF-8', () => {
    const key = parseSecret(secretOf(Buffer.alloc(24)));
    const bytes = Buffer.from([0xff, 0x00, 0x80]);
    const expected = createHmac('sha256', Buffer.alloc(24)).update('e.1.').update(bytes).digest('base64');
    const headers = signedHeaders([key], 'e', 1, bytes);
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
    expect(isSignedWith(key, headers, bytes)).toBe(true);
    // The same text once it is decoded.
    expect(isSignedWith(key, headers, Buffer.from(bytes.toString()))).toBe(false);
  });
});
