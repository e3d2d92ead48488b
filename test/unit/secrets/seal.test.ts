import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SealError, createSealer } from '../../../src/secrets/seal.ts';
import { privateSettingsPlace, partnerKeyPlace, type SealPlace } from '../../../src/secrets/seal-place.ts';

const makeKey = (id: string) => ({ id, key: randomBytes(32) });
const [march, june] = [makeKey('2026-03'), makeKey('2026-06')];
const sealer = createSealer([june, march]);
const place = partnerKeyPlace('a', 'https://partner.example/v1');

// Short texts of few characters, so that parts run into one another and places meet.
const part = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', ',', '\\', ''), maxLength: 3 }),
  fc.string(),
);
const places: fc.Arbitrary<SealPlace> = fc.record({
  account: part,
  subscription: part,
  field: fc.constantFrom('partnerKey', 'privateSettings', 'registration'),
  peer: part,
});

describe('sealing', () => {
  test('opens to the same text in the same place, whatever text and place are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), places, (text, where) => {
        expect(sealer.open(sealer.seal(text, where), { ...where })).toBe(text);
      }),
    );
  });

  test('names version and key, and shows neither text nor the same output twice', () => {
    const [first, second] = [sealer.seal('pk_live_123', place), sealer.seal('pk_live_123', place)];
    expect(first).toMatch(/^v1\.2026-06\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(first.split('.')[2] ?? '', 'base64url').includes('pk_live')).toBe(false);
    expect(first).not.toBe(second);
  });

  test('opens what an older key sealed, and says that it should be sealed again', () => {
    const old = createSealer([march]).seal('text', place);
    expect(sealer.open(old, place)).toBe('text');
    expect(sealer.isCurrent(old)).toBe(false);
    expect(sealer.isCurrent(sealer.seal('text', place))).toBe(true);
  });
});

describe('a sealed text that must not open', () => {
  const sealed = sealer.seal('pk_live_123', place);

  test('one moved to any other place, be it by a single part of it', () => {
    fc.assert(
      fc.property(places, places, (from, to) => {
        fc.pre(JSON.stringify(Object.entries(from)) !== JSON.stringify(Object.entries(to)));
        expect(() => sealer.open(sealer.seal('x', from), to)).toThrow(SealError);
      }),
    );
    const other: SealPlace = { account: 'b', subscription: 'b', field: 'privateSettings', peer: 'b' };
    fc.assert(
      fc.property(places, fc.constantFrom('account', 'subscription', 'field', 'peer'), (from, changed) => {
        const to = { ...from, [changed]: other[changed] };
        fc.pre(to[changed] !== from[changed]);
        expect(() => sealer.open(sealer.seal('x', from), to)).toThrow(SealError);
      }),
    );
    expect(() => sealer.open(sealed, { ...place, account: 'b' })).toThrow(
      /secret of account:b does not open/,
    );
  });

  test('one whose receiver is another now; another path of it is the same receiver', () => {
    const headers = sealer.seal('x', privateSettingsPlace('a', 'sub_1', 'https://a.example/one?t=1'));
    expect(sealer.open(headers, privateSettingsPlace('a', 'sub_1', 'https://A.example:443/two'))).toBe('x');
    for (const url of [
      'https://b.example/one',
      'http://a.example/one',
      'https://a.example:8443/one',
      'no url',
    ])
      expect(() => sealer.open(headers, privateSettingsPlace('a', 'sub_1', url))).toThrow(SealError);
  });

  test('one with any single character changed', () => {
    const positions = fc.integer({ min: 0, max: sealed.length - 1 });
    const characters = fc.constantFrom('A', 'b', '0', '1', '-', '_', '.', '=', '+', ' ', 'é');
    fc.assert(
      fc.property(positions, characters, (position, character) => {
        fc.pre(sealed[position] !== character);
        const changed = sealed.slice(0, position) + character + sealed.slice(position + 1);
        expect(() => sealer.open(changed, place)).toThrow(SealError);
      }),
      { numRuns: 500 },
    );
  });

  test('one cut short or continued', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealer.open(sealed.slice(0, length), place)).toThrow(SealError);
    }
    expect(() => sealer.open(`${sealed}A`, place)).toThrow(SealError);
  });

  test('one whose key was replaced by another under the same id', () => {
    const other = createSealer([makeKey('2026-06')]);
    expect(() => other.open(sealed, place)).toThrow(/key "2026-06".*is another one now/);
  });

  test('one whose key id was swapped for another known one', () => {
    const swapped = sealed.replace('2026-06', '2026-03');
    expect(() => sealer.open(swapped, place)).toThrow(SealError);
    const twice = createSealer([june, { ...june, id: '2026-09' }]);
    expect(() => twice.open(sealed.replace('2026-06', '2026-09'), place)).toThrow(SealError);
  });

  test('one of a key that is not configured, with the way out in the message and no key or text', () => {
    expect(() => createSealer([march]).open(sealed, place)).toThrow(
      /^(?!.*pk_live).*"2026-06".*ENCRYPTION_KEY=new:…,2026-06:…/,
    );
  });
});

test('a sealer without any key is refused', () => {
  expect(() => createSealer([])).toThrow(RangeError);
});
