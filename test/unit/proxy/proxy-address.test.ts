import { describe, expect, it } from 'vitest';
import { maskedProxy, parseProxyAddress } from '../../../src/proxy/proxy-address.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the address of a proxy', () => {
  it.each([
    ['http://proxy', false, 'proxy', 80, null, 'http://proxy:80'],
    ['https://proxy.example.com', true, 'proxy.example.com', 443, null, 'https://proxy.example.com:443'],
    ['HTTP://Proxy:3128/', false, 'proxy', 3128, null, 'http://proxy:3128'],
    ['http://[::1]:3128', false, '::1', 3128, null, 'http://[::1]:3128'],
    ['http://user:p%40ss%3Aw%2Frd@proxy:1', false, 'proxy', 1, basic('user:p@ss:w/rd'), 'http://***@proxy:1'],
    ['http://us%C3%A9r@proxy:1', false, 'proxy', 1, basic('usér:'), 'http://***@proxy:1'],
    ['http://:token@proxy:1', false, 'proxy', 1, basic(':token'), 'http://***@proxy:1'],
  ])('%s', (text, isSecure, host, port, authorization, shown) => {
    const parsed = parseProxyAddress(text);
    expect(parsed).toEqual({ ok: true, value: { isSecure, host, port, authorization } });
    expect(parsed.ok && maskedProxy(parsed.value)).toBe(shown);
  });

  it.each([
    'http://user:s3cret@',
    'http://a b',
    'ftp://user:s3cret@proxy',
    'http://us%0Aer:s3cret@proxy',
    'http://u:s3cret%@proxy',
  ])('refuses %j and does not repeat it', (text) => {
    const parsed = parseProxyAddress(text);
    expect(parsed).toMatchObject({ ok: false });
    expect(JSON.stringify(parsed)).not.toContain('s3cret');
  });
});
