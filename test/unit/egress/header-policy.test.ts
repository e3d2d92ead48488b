import { Buffer } from 'node:buffer';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { customHeadersMax, checkCustomHeaders } from '../../../src/egress/header-policy.ts';

function problemsOf(headers: Record<string, string>): readonly string[] {
  const check = checkCustomHeaders(headers);
  return check.ok ? [] : check.problems.map(({ name, message }) => `${name ?? 'all'}: ${message}`);
}

describe('acceptable headers', () => {
  it.each([
    ['authorization', 'Bearer abc.def'],
    ['X-Api-Key', 'k'],
    ['accept', 'application/json'],
    ['x-empty', ''],
    ['x-inner-space', 'a b\tc'],
    ["x!#$%&'*+.^_`|~-9", '~!"'],
    ['x-hosted', 'yes'],
    ['x-auth-token', 't'],
    ['X-Goog-Api-Key', 'k'],
    ['CF-Access-Client-Secret', 's'],
    ['Ocp-Apim-Subscription-Key', 'k'],
    ['x-request-id', 'r'],
    ['x-team', 'filings'],
    ['x-shipment', 'no ip of its own'],
    ['x-tracer', 'no trace'],
    ['certificate', 'no ce'],
  ])('takes %s', (name, value) => {
    expect(checkCustomHeaders({ [name]: value })).toEqual({ ok: true });
  });

  it('takes none, and as many as the limit', () => {
    expect(checkCustomHeaders({})).toEqual({ ok: true });
    const headers = Object.fromEntries(
      Array.from({ length: customHeadersMax }, (_, n) => [`x-${n}`, 'v'] as const),
    );
    expect(checkCustomHeaders(headers)).toEqual({ ok: true });
    expect(problemsOf({ ...headers, 'x-more': 'v' })).toEqual(['all: must not have more than 20 fields']);
  });
});

describe('reserved names', () => {
  it.each([
    'Host',
    'CONTENT-LENGTH',
    'content-type',
    'Content-Encoding',
    'Transfer-Encoding',
    'transfer_encoding',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Via',
    'Date',
    'Proxy-Authorization',
    'Proxy-Connection',
    'proxy-anything',
    'Forwarded',
    'X-Forwarded-For',
    'X-FORWARDED-HOST',
    'x_forwarded_for',
    'X-Real-IP',
    'Cookie',
    'Set-Cookie',
    'User-Agent',
    'Accept-Encoding',
    'webhook-id',
    'Webhook-Signature',
    'webhook_timestamp',
    'svix-id',
    'Signature',
    'Signature-Input',
    'X-Hub-Signature',
    'stripe_signature',
    'X-Client-IP',
    'X-Method-Override',
    'X-Original-Host',
    'Sec-Fetch-Site',
    '__proto__',
    'X-Hub-Signature-256',
    'X-Signature-256',
    'x_signature_key',
    'X-Shopify-Hmac-Sha256',
    'Content-Digest',
    'Digest',
    'content_length',
    'x.forwarded.for',
    'X-Forwarded-User',
    'Forwarded-For',
    'Remote-User',
    'X-Remote-User',
    'X-Remote-Addr',
    'X-ProxyUser-Ip',
    'Fastly-Client-IP',
    'X-Azure-ClientIP',
    'X-Azure-SocketIP',
    'CF-Connecting-IP',
    'CF-Access-Jwt-Assertion',
    'X-Auth-Request-Email',
    'X-WebAuth-User',
    'X-Goog-Authenticated-User-Email',
    'X-MS-Client-Principal-Id',
    'X-Ssl-Client-Verify',
    'X-Client-Cert',
    'Impersonate-User',
    'Metadata-Flavor',
    'Metadata',
    'X-aws-ec2-metadata-token',
    'X-Amz-Cf-Id',
    'X-Amzn-Trace-Id',
    'X-Envoy-Original-Path',
    'X-Original-URL',
    'X-HTTP-Method-Override',
    'traceparent',
    'X-B3-TraceId',
    'Range',
    'If-Match',
    'Idempotency-Key',
    'ce-id',
    'X-Webhook-Signature',
  ])('refuses %s', (name) => {
    const headers = Object.fromEntries([[name, 'v']]);
    expect(problemsOf(headers)).toEqual([
      `${name}: is reserved for this service, the connection or proxies: use Authorization, X-Api-Key or a name of your own`,
    ]);
  });
});

describe('injection', () => {
  it.each([
    '',
    ' x',
    'x ',
    'x y',
    'x:',
    'x\r\ny',
    'x\ny',
    'x\0',
    'ü',
    'x\t',
    '"x"',
    'x(y)',
    'x@y',
    ':authority',
    'x\u2028',
  ])('refuses the name %j', (name) => {
    expect(problemsOf({ [name]: 'v' })).toHaveLength(1);
  });

  it.each([
    'a\r\nb',
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u007fb',
    'a\u001bb',
    ' a',
    'a ',
    '\ta',
    'ü',
    'a\u2028b',
    '\u{1f600}',
    '\r\n',
  ])('refuses the value %j without repeating it', (value) => {
    const problems = problemsOf({ 'x-a': value });
    expect(problems).toEqual(['x-a: has a value that is not printable ASCII without outer whitespace']);
  });

  it('accepts nothing that Node would refuse to send', () => {
    const anyBytes = fc.array(fc.nat(0x17f), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes));
    const text = fc.oneof(anyBytes, fc.stringMatching(/^[\w -]{1,8}$/));
    fc.assert(
      fc.property(text, text, (name, value) => {
        if (!checkCustomHeaders(Object.fromEntries([[name, value]])).ok) return;
        validateHeaderName(name);
        validateHeaderValue(name, value);
        expect(Buffer.from(value, 'latin1').toString('latin1')).toBe(value);
      }),
      { numRuns: 400 },
    );
  });
});

describe('limits', () => {
  it('refuses a name that appears in two spellings', () => {
    expect(problemsOf({ 'x-a': '1', 'X-A': '2', 'x-b': '3' })).toEqual(['X-A: appears more than once']);
  });

  it('refuses long names, long values and a large sum', () => {
    expect(problemsOf({ ['x'.repeat(101)]: 'v' })).toEqual([expect.stringContaining('longer than 100')]);
    expect(problemsOf({ x: 'v'.repeat(2049) })).toEqual([expect.stringContaining('longer than 2048')]);
    const five = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'v'.repeat(2000)]));
    expect(problemsOf(five)).toEqual([expect.stringContaining('8192')]);
  });

  it('names every header with its first problem', () => {
    expect(problemsOf({ host: 'a\nb', 'x y': 'v', 'x-a': 'v' })).toHaveLength(2);
  });
});
