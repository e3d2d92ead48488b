import { sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  generatePrivateKey,
  InvalidKeyError,
  parsePrivateKey,
  parsePublicKey,
  publicKeyOf,
  toJwk,
} from '../../../src/subscriptions/signing-secret.ts';

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
// RFC 8032 §7.1, test 2.
const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
const point = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
const signature =
  '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';
const known = `whsk_${base64(seed + point)}`;

describe('a private key', () => {
  it('signs as RFC 8032 does, and its public key verifies that', () => {
    const message = Buffer.from([0x72]);
    expect(sign(null, message, parsePrivateKey(known)).toString('hex')).toBe(signature);
    expect(publicKeyOf(known)).toBe(`whpk_${base64(point)}`);
    const publicKey = parsePublicKey(publicKeyOf(known));
    expect(verify(null, message, publicKey, Buffer.from(signature, 'hex'))).toBe(true);
  });

  it('is another one each time, of 64 bytes, and agrees with its public key', () => {
    const made = Array.from({ length: 20 }, generatePrivateKey);
    expect(new Set(made).size).toBe(20);
    for (const text of made) {
      expect(Buffer.from(text.slice('whsk_'.length), 'base64')).toHaveLength(64);
      const signed = sign(null, Buffer.from('x'), parsePrivateKey(text));
      expect(verify(null, Buffer.from('x'), parsePublicKey(publicKeyOf(text)), signed)).toBe(true);
    }
  });

  it.each([
    ['another prefix', known.replace('whsk_', 'whsec_')],
    ['a public key', publicKeyOf(known)],
    ['too few bytes', `whsk_${base64(seed)}`],
    ['a space', `${known} `],
    ['base64url', known.replaceAll('+', '-').replaceAll('/', '_')],
    ['nothing', ''],
  ])('is refused with %s, in words that do not repeat it', (_name, text) => {
    expect(() => parsePrivateKey(text)).toThrow(InvalidKeyError);
    expect(() => parsePrivateKey(text)).toThrow('a key of ed25519 is whsk_ and the base64 of 64 bytes');
  });
});

describe('a public key', () => {
  it('is a JWK with the thumbprint of RFC 8037, appendix A.3', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(toJwk(`whpk_${Buffer.from(x, 'base64url').toString('base64')}`)).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      x,
    });
  });

  it.each([known, 'whpk_', `whpk_${base64(seed + point)}`, publicKeyOf(known).slice(0, -1)])(
    'is refused as %s',
    (text) => {
      expect(() => parsePublicKey(text)).toThrow(InvalidKeyError);
    },
  );
});
