import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { InvalidSecretError, generateSecret, parseSecret, sign } from '../../../src/callbacks/sign.ts';

const nowSeconds = Math.floor(Date.now() / 1000);
const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf);

function verifies(secret: string, id: string, signature: string, body: string): boolean {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': signature,
  };
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

describe('sign', () => {
  it('gives the HMAC-SHA256 of id, timestamp and body', () => {
    const key = parseSecret(secretOf(Buffer.alloc(24, 7)));
    const expected = createHmac('sha256', Buffer.alloc(24, 7))
      .update('evt_1.1700000000.{"a":1}')
      .digest('base64');
    expect(sign([key], 'evt_1', 1_700_000_000, Buffer.from('{"a":1}'))).toBe(`v1,${expected}`);
  });

  it('is verified by the standardwebhooks library for any secret, id and body', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.stringMatching(/^evt_[\w-]{1,40}$/),
        fc.string({ unit: 'grapheme' }),
        (secret, id, body) => {
          const signature = sign([parseSecret(secret)], id, nowSeconds, Buffer.from(body));
          expect(signature).toBe(new Webhook(secret).sign(id, new Date(nowSeconds * 1000), body));
          expect(verifies(secret, id, signature, body)).toBe(true);
        },
      ),
    );
  });

  it('is verified with either secret while a secret is being rotated, and with no other', () => {
    const [fresh, old, other] = [generateSecret(), generateSecret(), generateSecret()];
    const signature = sign([parseSecret(fresh), parseSecret(old)], 'evt_1', nowSeconds, Buffer.from('{}'));
    expect(signature).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    expect([fresh, old, other].map((secret) => verifies(secret, 'evt_1', signature, '{}'))).toEqual([
      true,
      true,
      false,
    ]);
    expect(verifies(fresh, 'evt_2', signature, '{}')).toBe(false);
    expect(verifies(fresh, 'evt_1', signature, '{ }')).toBe(false);
  });

  it('signs bytes that are no UTF-8 as they are', () => {
    const bytes = Buffer.from([0xff, 0x00, 0x80]);
    const expected = createHmac('sha256', Buffer.alloc(24)).update('e.1.').update(bytes).digest('base64');
    expect(sign([parseSecret(secretOf(Buffer.alloc(24)))], 'e', 1, bytes)).toBe(`v1,${expected}`);
  });
});

describe('parseSecret', () => {
  it('takes 24 to 64 bytes', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        expect(secretOf(parseSecret(secret).export())).toBe(secret);
      }),
    );
  });

  it.each([
    '',
    'whsec_',
    Buffer.alloc(32).toString('base64'),
    `WHSEC_${Buffer.alloc(32).toString('base64')}`,
    `whsk_${Buffer.alloc(32).toString('base64')}`,
    secretOf(Buffer.alloc(23)),
    secretOf(Buffer.alloc(65)),
    secretOf(Buffer.alloc(32)).replace('=', ''),
    `${secretOf(Buffer.alloc(32))}=`,
    `${secretOf(Buffer.alloc(24))}\n`,
    ` ${secretOf(Buffer.alloc(24))}`,
    secretOf(Buffer.alloc(24, 0xff)).replaceAll('/', '_'),
    `whsec_${'*'.repeat(32)}`,
  ])('throws for %j without repeating it', (text) => {
    expect(() => parseSecret(text)).toThrow(InvalidSecretError);
    expect(() => parseSecret(text)).toThrow('a secret is whsec_ and the base64 of 24 to 64 bytes');
  });
});

describe('generateSecret', () => {
  it('gives another 32 bytes each time', () => {
    const made = Array.from({ length: 100 }, generateSecret);
    expect(new Set(made).size).toBe(100);
    expect(made.map((secret) => parseSecret(secret).symmetricKeySize)).toEqual(Array(100).fill(32));
  });
});
