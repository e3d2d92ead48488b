import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  generateSecret,
  InvalidKeyError,
  parseSecret,
  renewSecrets,
  validSecrets,
  type SigningSecret,
} from '../../../src/subscriptions/signing-secret.ts';

const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf);

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
    expect(() => parseSecret(text)).toThrow(InvalidKeyError);
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

describe('signing secrets', () => {
  const made = (text: string): SigningSecret => ({ text, expiresAt: null });
  const current = [made('one')];
  const rotate = (held: readonly SigningSecret[], secret: string, graceMs: number, now: number) =>
    renewSecrets(held, { versions: ['v1'], secret, graceMs }, now);

  it('overlap for the grace, the newest first', () => {
    const rotated = rotate(current, 'two', 100, 1_000);
    expect(rotated).toEqual([
      { text: 'two', expiresAt: null },
      { text: 'one', expiresAt: 1_100 },
    ]);
    expect(validSecrets(rotated, 1_099)).toEqual(['two', 'one']);
    expect(validSecrets(rotated, 1_100)).toEqual(['two']);
  });

  it('end at once without grace', () => {
    expect(rotate(current, 'two', 0, 1_000)).toEqual([{ text: 'two', expiresAt: null }]);
  });

  it('rotated again do not live longer, and expired ones go', () => {
    const twice = rotate(rotate(current, 'two', 100, 1_000), 'three', 500, 1_050);
    expect(twice).toEqual([
      { text: 'three', expiresAt: null },
      { text: 'two', expiresAt: 1_550 },
      { text: 'one', expiresAt: 1_100 },
    ]);
    expect(rotate(twice, 'four', 500, 1_200).map(({ text }) => text)).toEqual(['four', 'three', 'two']);
  });

  it('are never more than five: the oldest ends before its grace', () => {
    const names = ['two', 'three', 'four', 'five', 'six', 'seven'];
    const rotated = names.reduce<readonly SigningSecret[]>(
      (held, name, i) => rotate(held, name, 86_400_000, i),
      current,
    );
    expect(validSecrets(rotated, 10)).toEqual(['seven', 'six', 'five', 'four', 'three']);
  });

  it('rotated back to a former one list it once', () => {
    const back = rotate(rotate(current, 'two', 100, 1_000), 'one', 100, 1_010);
    expect(back).toEqual([
      { text: 'one', expiresAt: null },
      { text: 'two', expiresAt: 1_110 },
    ]);
  });

  it('are made for a signature without one, and end at once with their signature', () => {
    const both = renewSecrets(current, { versions: ['v1a', 'v1'] }, 1_000);
    expect(both).toEqual([
      made('one'),
      { text: expect.stringMatching(/^whsk_/), expiresAt: null, since: 1_000 },
    ]);
    expect(renewSecrets(both, { versions: ['v1a'], graceMs: 500 }, 1_100)).toEqual([both[1]]);
    const [first, second, third] = renewSecrets(
      both,
      { versions: ['v1', 'v1a'], renewed: ['v1a'], graceMs: 500 },
      1_100,
    );
    expect([first, third]).toEqual([made('one'), { ...both[1], expiresAt: 1_600 }]);
    expect(second).toMatchObject({ since: 1_100, expiresAt: null });
  });
});
