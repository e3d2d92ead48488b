import { describe, expect, it } from 'vitest';
import { isDirect, parseNoProxy } from '../../../src/proxy/no-proxy.ts';

type Row = readonly [rules: string, host: string, port: number, direct: boolean];

const rows: readonly Row[] = [
  ['', 'example.com', 443, false],
  ['*', 'example.com', 443, true],
  ['*', '2001:db8::1', 443, true],
  ['example.com', 'example.com', 443, true],
  ['example.com', 'EXAMPLE.com', 443, true],
  ['EXAMPLE.COM', 'a.example.com', 443, true],
  ['example.com', 'example.com.', 443, true],
  ['example.com.', 'example.com', 443, true],
  ['example.com', 'notexample.com', 443, false],
  ['example.com', 'example.com.evil.test', 443, false],
  ['.example.com', 'a.b.example.com', 443, true],
  ['.example.com', 'example.com', 443, false],
  ['*.example.com', 'a.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['example.com:8443', 'example.com', 8443, true],
  ['example.com:8443', 'a.example.com', 8443, true],
  ['example.com:8443', 'example.com', 443, false],
  ['localhost', 'localhost', 80, true],
  ['', 'localhost', 80, false],
  ['a.test, b.test  c.test,,', 'b.test', 443, true],
  ['a.test b.test', 'b.test', 443, true],
  ['10.1.2.3', '10.1.2.3', 443, true],
  ['10.1.2.3', '10.1.2.4', 443, false],
  ['10.1.2.3:8080', '10.1.2.3', 8080, true],
  ['10.1.2.3:8080', '10.1.2.3', 443, false],
  ['10.0.0.0/8', '10.255.0.1', 443, true],
  ['10.0.0.0/8', '11.0.0.1', 443, false],
  ['10.0.0.0/8', 'ten.example.com', 443, false],
  ['0.0.0.0/0', '1.2.3.4', 443, true],
  ['0.0.0.0/0', '2001:db8::1', 443, false],
  ['10.0.0.0/8', '[::ffff:10.0.0.1]', 443, true],
  ['2001:db8::/32', '[2001:db8::1]', 443, true],
  ['[2001:db8::]/32', '2001:db8::1', 443, true],
  ['2001:db8::1', '[2001:0db8:0::1]', 443, true],
  ['[2001:db8::1]:8443', '[2001:db8::1]', 8443, true],
  ['[2001:db8::1]:8443', '[2001:db8::1]', 443, false],
  // What cannot be read goes through the proxy.
  ['10.0.0.0/33', '10.0.0.1', 443, false],
  ['example.com/8', 'example.com', 443, false],
  ['exam*le.com', 'example.com', 443, false],
  ['https://example.com', 'example.com', 443, false],
  ['example.com:port', 'example.com', 443, false],
  ['1', '0.0.0.1', 443, false],
];

describe('NO_PROXY', () => {
  it.each(rows)('%j and %s:%d', (rules, host, port, direct) => {
    expect(isDirect(parseNoProxy(rules), host, port)).toBe(direct);
  });

  it('with a million entries is read to its thousandth', () => {
    const rules = parseNoProxy(Array.from({ length: 1_000_000 }, (_, n) => `h${n}.test`).join(','));
    expect([isDirect(rules, 'h999.test', 443), isDirect(rules, 'h1000.test', 443)]).toEqual([true, false]);
  });
});
