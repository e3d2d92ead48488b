import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SealError, createSealer } from '../../../src/secrets/seal.ts';

const makeKey = (id: string) => ({ id, key: randomBytes(32) });
const [march, june] = [makeKey('2026-03'), makeKey('2026-06')];
const sealer = createSealer([june, march]);

describe('sealing', () => {
  test('opens to the same text under the same context, whatever text and context are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, context) => {
        expect(sealer.open(sealer.seal(text, context), context)).toBe(text);
      }),
    );
  });

  test('names version and key, and shows neither text nor the same output twice', () => {
    const [first, second] = [
      sealer.seal('pk_live_123', 'account:a'),
      sealer.seal('pk_live_123', 'account:a'),
    ];
    expect(first).toMatch(/^v1\.2026-06\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(first.split('.')[2] ?? '', 'base64url').includes('pk_live')).toBe(false);
    expect(first).not.toBe(second);
  });

  test('opens what an older key sealed, and says that it should be sealed again', () => {
    const old = createSealer([march]).seal('text', 'account:a');
    expect(sealer.open(old, 'account:a')).toBe('text');
    expect(sealer.isSealedWithNewest(old)).toBe(false);
    expect(sealer.isSealedWithNewest(sealer.seal('text', 'account:a'))).toBe(true);
  });
});

describe('a sealed text that must not open', () => {
  const sealed = sealer.seal('pk_live_123', 'account:a');

  test('one moved to another record', () => {
    expect(() => sealer.open(sealed, 'account:b')).toThrow(SealError);
    expect(() => sealer.open(sealed, 'account:b')).toThrow(/secret of account:b does not open/);
  });

  test('one with any single character changed', () => {
    const positions = fc.integer({ min: 0, max: sealed.length - 1 });
    const characters = fc.constantFrom('A', 'b', '0', '-', '_', '.', '=', '+', ' ', 'é');
    fc.assert(
      fc.property(positions, characters, (at, character) => {
        fc.pre(sealed[at] !== character);
        const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
        expect(() => sealer.open(changed, 'account:a')).toThrow(SealError);
      }),
      { numRuns: 500 },
    );
  });

  test('one cut short or continued', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealer.open(sealed.slice(0, length), 'account:a')).toThrow(SealError);
    }
    expect(() => sealer.open(`${sealed}A`, 'account:a')).toThrow(SealError);
  });

  test('one whose key was replaced by another under the same id', () => {
    const other = createSealer([makeKey('2026-06')]);
    expect(() => other.open(sealed, 'account:a')).toThrow(/key "2026-06".*is another one now/);
  });

  test('one whose key id was swapped for another known one', () => {
    const swapped = sealed.replace('2026-06', '2026-03');
    expect(() => sealer.open(swapped, 'account:a')).toThrow(SealError);
  });

  test('one of a key that is not configured, with the way out in the message and no key or text', () => {
    expect(() => createSealer([march]).open(sealed, 'account:a')).toThrow(
      /^(?!.*pk_live).*"2026-06".*ENCRYPTION_KEY=new:…,2026-06:…/,
    );
  });
});

test('a sealer without any key is refused', () => {
  expect(() => createSealer([])).toThrow(RangeError);
});
