import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactly } from '../../../src/json/parse-exactly.ts';

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

  it('leaves ordinary numbers numbers', () => {
    expect(parseExactly('{"premium":1200.5}')).toEqual({ premium: 1200.5 });
  });

  it('throws on what is not JSON', () => {
    expect(() => parseExactly('<html>')).toThrow(SyntaxError);
  });
});
