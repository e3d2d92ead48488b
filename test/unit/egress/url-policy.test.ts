import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import type { HostLookup } from '../../../src/names/host-lookup.ts';
import {
  callbackUrlLengthMax,
  refusedDestination,
  checkCallbackUrl,
  resolveCallbackHost,
} from '../../../src/egress/url-policy.ts';
import corpus from '../../support/ssrf-corpus.json' with { type: 'json' };

const policy = createEgressPolicy({ allowCidrs: [] });
const rules = { allowHttp: true, policy };
const refused = { ok: false, problem: refusedDestination };

describe('the SSRF corpus', () => {
  it('holds at least 200 URLs', () => {
    expect(new Set(corpus.flatMap((group) => group.urls)).size).toBeGreaterThanOrEqual(200);
  });

  for (const group of corpus) {
    it.each(group.urls)(`refuses %j for its text alone (${group.class})`, (url) => {
      const problem = expect.stringMatching(/^(?:it|its|port|[^ ]+ is) [ -~]{5,120}$/) as string;
      expect(checkCallbackUrl(url, rules)).toEqual({ ok: false, problem });
    });
  }
});

describe('acceptable URLs', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://EXAMPLE.com/Hook?a=1&b=%2F', 'https://example.com/Hook?a=1&b=%2F'],
    ['HTTPS://example.com:443/', 'https://example.com/'],
    ['http://example.com:80/x', 'http://example.com/x'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['http://example.com:8080/', 'http://example.com:8080/'],
    ['http://example.com:54321/', 'http://example.com:54321/'],
    ['http://example.com:65535/', 'http://example.com:65535/'],
    ['https://example.com/@me?x=a@b', 'https://example.com/@me?x=a@b'],
    ['https://example.com/a/../b', 'https://example.com/b'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://mylocalhost/', 'https://mylocalhost/'],
    ['https://93.184.216.34/', 'https://93.184.216.34/'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    ['https://example.com?x=1', 'https://example.com/?x=1'],
  ])('takes %s as %s', (text, href) => {
    const check = checkCallbackUrl(text, rules);
    expect(check.ok && check.url.href).toBe(href);
  });

  it('takes as many characters as the limit and no more', () => {
    const url = 'https://example.com/'.padEnd(callbackUrlLengthMax, 'a');
    expect(checkCallbackUrl(url, rules).ok).toBe(true);
    expect(checkCallbackUrl(`${url}a`, rules)).toEqual({
      ok: false,
      problem: 'it is longer than 2048 characters',
    });
  });
});

describe('a URL that was accepted', () => {
  it('is accepted in its normalised form, which does not change any more', () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{2,6}){1,2}$/);
    const host = fc.oneof(
      name,
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    const rest = fc.array(fc.integer({ min: 0x21, max: 0x2ff }), { maxLength: 20 });
    const text = fc
      .tuple(host, fc.constantFrom('/', '/?'), rest)
      .map(([where, mark, codes]) => `https://${where}${mark}${String.fromCharCode(...codes)}`);
    fc.assert(
      fc.property(text, (written) => {
        const first = checkCallbackUrl(written, rules);
        const again = first.ok ? checkCallbackUrl(first.url.href, rules) : first;
        expect(again).toEqual(first);
      }),
    );
  });

  it('is refused if its normalised form is too long', () => {
    const url = 'https://example.com/'.padEnd(callbackUrlLengthMax, 'ü');
    expect(checkCallbackUrl(url, rules)).toMatchObject({ ok: false });
  });
});

describe('schemes', () => {
  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/',
    'javascript:alert(1)',
    'unix:/run/x',
    'hooks.example.com',
    '//hooks.example.com',
  ])('refuses %s for its scheme', (url) => {
    const problem = expect.stringMatching(
      /^it (?:must|does not) begin with https:\/\/ or http:\/\/$/,
    ) as string;
    expect(checkCallbackUrl(url, rules)).toEqual({ ok: false, problem });
  });

  it('refuses http unless it is allowed', () => {
    const check = checkCallbackUrl('http://example.com/', { allowHttp: false, policy });
    expect(check).toEqual({
      ok: false,
      problem: 'it must begin with https:// (for development: DELIVERY_ALLOW_HTTP=true)',
    });
    expect(checkCallbackUrl('https://example.com/', { allowHttp: false, policy }).ok).toBe(true);
  });
});

describe('the words of a refusal', () => {
  it.each([
    ['hooks.example.com', 'it does not begin with https://'],
    [
      'https://user:pw@example.com/',
      'it contains user information; give credentials in a custom header, such as Authorization, or in auth',
    ],
    ['https://example.com/#frag', 'it has a fragment, which is never sent'],
    ['https://example.com:22/', 'port 22 is not permitted; 443 is, 80, and those above 1023'],
    [
      'https://example.com:6379/',
      'port 6379 is not permitted: it belongs to a service that is no web application',
    ],
    ['https://example.com:/', 'it has a colon without a port'],
    ['https://example.com:99999/', 'its host or port is not valid'],
    ['https://10.0.0.1/', '10.0.0.1 is a private address; the operator opens it with DELIVERY_ALLOW_CIDRS'],
    ['https://167772161/', '10.0.0.1 is a private address; the operator opens it with DELIVERY_ALLOW_CIDRS'],
    [
      'https://169.254.169.254/',
      '169.254.169.254 is a link-local address; the operator opens it with DELIVERY_ALLOW_CIDRS',
    ],
    ['https://[::ffff:10.0.0.1]/', '::ffff:a00:1 is an IPv4 address written as IPv6; write it as IPv4'],
    ['https://[fd00::1]/', 'fd00::1 is a private address; the operator opens it with DELIVERY_ALLOW_CIDRS'],
    [
      'https://localhost/',
      "localhost is the daemon's own machine; the operator opens it with DELIVERY_ALLOW_CIDRS",
    ],
    ['https://metadata.google.internal/', 'metadata.google.internal is the metadata service of a cloud'],
    ['https://example.com/a b', 'it contains whitespace'],
    ['https://example.com\\a', 'it contains a backslash'],
    ['https://example.com./', 'its host ends in a dot'],
    ['https:///a', 'it has no host'],
  ])('%s: %s', (url, problem) => {
    expect(checkCallbackUrl(url, { allowHttp: false, policy })).toEqual({ ok: false, problem });
  });
});

describe('allowed ranges', () => {
  const local = { allowHttp: true, policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8', '::1/128'] }) };

  it.each([
    'http://127.0.0.1:3000/',
    'http://2130706433:3000/',
    'http://[::1]:3000/',
    'http://localhost:3000/',
    'http://a.localhost:3000/',
  ])('open %s', (url) => {
    expect(checkCallbackUrl(url, local).ok).toBe(true);
  });

  it.each([
    'http://127.0.0.1:22/',
    'http://127.0.0.1:6379/',
    'http://localhost./',
    'http://u@127.0.0.1/',
    'http://10.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://metadata.google.internal/',
  ])('leave %s refused', (url) => {
    expect(checkCallbackUrl(url, local)).toMatchObject({ ok: false });
  });
});

describe('resolveCallbackHost', () => {
  const url = new URL('https://hooks.example.com/');
  const passed = { ok: true, url };

  it('passes a host with public addresses only', async () => {
    const lookup = answering('93.184.216.34', '2606:4700::1');
    expect(await resolveCallbackHost(url, { policy, lookup, timeoutMs: 1000 })).toEqual(passed);
  });

  it.each([
    ['93.184.216.34', '10.0.0.1'],
    ['::1', '2606:4700::1'],
    ['::ffff:93.184.216.34', '93.184.216.34'],
  ])(
    'refuses a host with the addresses %s and %s in the same sentence as a literal',
    async (...addresses) => {
      const lookup = answering(...addresses);
      expect(await resolveCallbackHost(url, { policy, lookup, timeoutMs: 1000 })).toEqual(refused);
    },
  );

  it('passes a host that does not resolve', async () => {
    expect(await resolveCallbackHost(url, { policy, lookup: unknownHost, timeoutMs: 1000 })).toEqual(passed);
  });

  it('passes a host whose resolver does not answer in time', async () => {
    expect(await resolveCallbackHost(url, { policy, lookup: silence, timeoutMs: 5 })).toEqual(passed);
  });

  it('asks no resolver about a literal address', async () => {
    const literal = new URL('https://[::1]/');
    expect(await resolveCallbackHost(literal, { policy, lookup: unknownHost, timeoutMs: 1000 })).toEqual(
      refused,
    );
  });
});

function answering(...addresses: string[]): HostLookup {
  return () => Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));
}

function unknownHost(): Promise<never> {
  return Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
}

function silence(): Promise<never> {
  return new Promise(() => {});
}
