import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonWalk } from '../../../src/json/json-walk.ts';

/** Walks over a text in pieces of so many bytes, and tells the structure found and the counts. */
function walkOver(text: string, pieceBytes = Infinity, levels = Infinity) {
  const bytes = Buffer.from(text);
  const found: string[] = [];
  const walk = createJsonWalk(levels, (byte, at, depth) => {
    expect(bytes[at]).toBe(byte);
    found.push(`${String.fromCharCode(byte)}${depth}`);
  });
  for (let at = 0; at < bytes.length; at += pieceBytes)
    walk.push(bytes, at, Math.min(at + pieceBytes, bytes.length));
  return { found: found.join(' '), ...walk.take(), depth: walk.depth() };
}

describe('a walk over JSON', () => {
  it.each([
    ['nothing', '', '', 0, 0],
    ['a number', '17', '', 0, 0],
    ['objects and arrays', '{"a":[1,{}]}', '{1 :1 [2 ,2 {3 }3 ]2 }1', 4, 3],
    ['what looks like structure in strings', '["[{,:}]","\\"]",""]', '[1 ,1 ,1 ]1', 3, 1],
    ['a backslash at the end of a string', '["\\\\",{}]', '[1 ,1 {2 }2 ]1', 3, 2],
    ['keys with quotes', '{"\\"{":"\\\\\\"","b":1}', '{1 :1 ,1 :1 }1', 2, 1],
  ])('meets %s', (_title, text, structure, marks, deepest) => {
    expect(walkOver(text)).toEqual({ found: structure, marks, deepest, depth: 0 });
  });

  it('meets only what lies up to its levels, and counts the rest', () => {
    expect(walkOver('[[[1,2],3],4]', Infinity, 1)).toEqual({
      found: '[1 ,1 ]1',
      marks: 6,
      deepest: 3,
      depth: 0,
    });
  });

  it.each([63, 64, 65, 66, 127, 128, 129, 1_000])('finds the end of a string of %i characters', (length) => {
    for (const odd of ['x', '\\\\', '\\"', '\\u0022'])
      for (const place of [0, Math.floor(length / 2), length - 1]) {
        const string = `${'x'.repeat(place)}${odd}${'x'.repeat(length - place - 1)}`;
        expect(walkOver(`["${string}",[]]`).found).toBe('[1 ,1 [2 ]2 ]1');
      }
  });

  it('is the same in whatever pieces the text comes', () => {
    const texts = fc.oneof(fc.json(), fc.string(), fc.stringMatching(/^[[\]{},:"\\x]{0,200}$/));
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, pieceBytes) => {
        expect(walkOver(text, pieceBytes)).toEqual(walkOver(text));
      }),
    );
  });

  it('counts at least as many values as there are, one left out', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { marks, deepest, depth } = walkOver(JSON.stringify(value));
        expect([marks, deepest, depth]).toEqual([valuesIn(value) - 1 + emptyIn(value), depthOf(value), 0]);
      }),
    );
  });

  it('takes a time that grows as the text does, whatever is in it', () => {
    const million = 2_000_000;
    for (const piece of ['\\"', '"x",', '\\\\', '{},', '"'.padEnd(70, 'x'), `"${'x'.repeat(69)}\\"`]) {
      const text = `["${piece.repeat(million / piece.length)}`;
      const startedAt = performance.now();
      walkOver(text, 65_536, 0);
      expect(performance.now() - startedAt, piece).toBeLessThan(2_000);
    }
  });
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 1);
}

function emptyIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value) as unknown[];
  return inner.reduce((sum: number, each) => sum + emptyIn(each), inner.length === 0 ? 1 : 0);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
