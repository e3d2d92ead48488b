import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonFault } from '../../../src/json/malformed-json.ts';

test.each([
  ['{"url":"a",}', 11, 'a name in double quotes'],
  ["{'url':1}", 1, 'a name in double quotes or }'],
  ['{"url" "a"}', 7, 'a colon'],
  ['{"a":1 "b":2}', 7, 'a comma or }'],
  ['[1 2]', 3, 'a comma or ]'],
  ['[1,,2]', 3, 'a value'],
  ['[1,]', 3, 'a value'],
  ['[,1]', 1, 'a value or ]'],
  ['{"a":nope}', 5, 'a value'],
  ['{"a":01}', 5, 'a value'],
  ['{"a":"x\ny"}', 7, 'the end of the text in double quotes'],
  ['{"a":"x', 7, 'the end of the text in double quotes'],
  [String.raw`{"a":"\x"}`, 6, 'the end of the text in double quotes'],
  ['{"a":', 5, 'a value'],
  ['{', 1, 'a name in double quotes or }'],
  ['{"a":1}}', 7, 'the end'],
  ['', 0, 'a value'],
  ['nonsense', 0, 'a value'],
])('%j goes wrong at %i, where %s is expected', (text, at, expected) => {
  expect(findJsonFault(text)).toEqual({ at, expected });
});

test('it finds a fault exactly where JSON.parse does', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), fc.nat(2))
    .map(([json, seed, put, cut]) => {
      const at = seed % (json.length + 1);
      return json.slice(0, at) + put + json.slice(at + cut);
    });
  fc.assert(
    fc.property(
      fc.oneof(fc.json(), broken, fc.stringMatching(/^[[\]{}",:0-9.eE+\-tfn \\u]{0,20}$/)),
      (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(findJsonFault(text) === null).toBe(isJson);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('it takes no time worth counting, whatever the text', () => {
  expect(findJsonFault(`"${'x'.repeat(262_144)}`)?.at).toBe(262_145);
  for (const part of ['[', '{"a":', '"', '\\', '1', '"\\u0000', '-']) {
    const startedAt = performance.now();
    findJsonFault(part.repeat(262_144 / part.length));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  }
});
