import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactly } from '../../../src/json/parse-exactly.ts';

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

function withReviver(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? rawJson(context.source)
      : value,
  );
}

function written(parse: () => unknown): string {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return String(error);
  }
}

describe('parseExactly', () => {
  it.each([
    '1200.10',
    '12345678901234567890',
    '[1e2,1E+2,-0,0.0,1.0]',
    '{"a":{"b":[100,1.50]}}',
    '{"__proto__":{"x":1.10},"constructor":2}',
    String.raw`{"name":"\ud800 alone"}`,
  ])('gives %s back as it was written', (text) => {
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  });

  it('gives any JSON back with the meaning it had', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(JSON.stringify(parseExactly(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses what JSON.parse refuses, and gives back what a reviver would', () => {
    const piece = fc.oneof(
      fc.constantFrom('1.0', '-0', '01', '1.', '-', '1e400', '0.1', '1E5', '12345678901234567890', '1.0.0'),
      fc.constantFrom('"', '\\', '"a"', ':', ',', '{', '}', '[', ']', ' ', '\n', 'null', '"__proto__":'),
      fc.json(),
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 4 }).map((pieces) => `[${pieces.join(',')}]`),
      fc.array(piece, { maxLength: 4 }).map((pieces) => `{"a":${pieces.join(',"b":')}}`),
    );
    fc.assert(
      fc.property(text, (each) => {
        expect(written(() => parseExactly(each))).toEqual(written(() => withReviver(each)));
      }),
      { numRuns: 5_000 },
    );
  });

  it('leaves ordinary numbers numbers', () => {
    expect(parseExactly('{"premium":1200.5}')).toEqual({ premium: 1200.5 });
  });

  it('throws on what is not JSON', () => {
    expect(() => parseExactly('<html>')).toThrow(SyntaxError);
  });
});
