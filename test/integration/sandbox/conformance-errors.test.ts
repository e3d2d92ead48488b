import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorStatus, jsonBodyBytesMax } from '../../../src/sandbox/decisions.ts';
import type { Filing } from '../../../src/sandbox/filings/filing.ts';
import { firstKey, secondKey, startSandbox } from './sandbox-client.ts';
import type { TestSandbox } from './sandbox-client.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(async () => sandbox[Symbol.asyncDispose]());

const pathsWithMethods: readonly (readonly [string, string])[] = [
  ['GET', '/me'],
  ['GET', '/filing-states'],
  ['POST', '/calculate'],
  ['POST', '/upload-user-file'],
  ['POST', '/create-filing'],
  ['GET', '/f_1'],
  ['GET', '/filings'],
  ['GET', '/get-state-rates/TX/new-business'],
];

describe('Authentication', () => {
  it.each(pathsWithMethods)('%s /partner%s requires the PartnerKey header', async (method, path) => {
    expect(await sandbox.call(method, path, { key: null })).toMatchObject({
      status: 401,
      body: { code: 'PARTNER_KEY_MISSING' },
    });
  });

  it.each(pathsWithMethods)('%s /partner%s refuses a key that was not issued', async (method, path) => {
    expect(await sandbox.call(method, path, { key: `${firstKey}x` })).toMatchObject({
      status: 401,
      body: { code: 'PARTNER_KEY_INVALID' },
    });
  });

  it('an unknown path below the base address tells nothing without a key', async () => {
    expect(await sandbox.call('GET', '/a/b/c', { key: null })).toMatchObject({ status: 401 });
  });

  it('access is scoped to the account: another key sees other states and other filings', async () => {
    const { id } = await sandbox.createFiling();
    const states = await sandbox.call<{ stateAbbr: string }[]>('GET', '/filing-states', { key: secondKey });
    const filings = await sandbox.call<{ items: Filing[] }>('GET', '/filings', { key: secondKey });
    expect(states.body.map(({ stateAbbr }) => stateAbbr)).toEqual(['OR', 'TX']);
    expect(filings.body.items.map((filing) => filing.id)).not.toContain(id);
  });

  it('several keys may open the same account', async () => {
    const keys = [
      { key: 'old', owner: 'acme' },
      { key: 'new', owner: 'acme' },
    ];
    await using rotated = await startSandbox({ keys });
    await rotated.control('PUT', '/filings/f_1', { status: 'PAID' });
    const answers = await Promise.all(
      keys.map(async ({ key }) => rotated.call<Filing>('GET', '/f_1', { key })),
    );
    expect(answers.map(({ body }) => body.userId)).toEqual(['acme', 'acme']);
  });
});

describe('Errors', () => {
  const json = { 'content-type': 'application/json' };
  const cases: readonly (readonly [string, keyof typeof errorStatus, string, string, RequestInit])[] = [
    ['malformed JSON', 'MALFORMED_JSON', 'POST', '/partner/calculate', { body: '{"a":', headers: json }],
    ['an empty JSON body', 'MALFORMED_JSON', 'POST', '/partner/calculate', { body: '', headers: json }],
    [
      'a prototype key',
      'MALFORMED_JSON',
      'POST',
      '/partner/calculate',
      { body: '{"__proto__":1}', headers: json },
    ],
    ['null as body', 'INVALID_INPUT', 'POST', '/partner/calculate', { body: 'null', headers: json }],
    ['no body', 'INVALID_INPUT', 'POST', '/partner/create-filing', {}],
    ['text as body', 'UNSUPPORTED_MEDIA_TYPE', 'POST', '/partner/calculate', { body: 'premium=1' }],
    [
      'a form as body',
      'UNSUPPORTED_MEDIA_TYPE',
      'POST',
      '/partner/calculate',
      { body: new URLSearchParams({ premium: '1' }) },
    ],
    [
      'a body that is too large',
      'BODY_TOO_LARGE',
      'POST',
      '/partner/calculate',
      { body: JSON.stringify('x'.repeat(jsonBodyBytesMax)), headers: json },
    ],
    ['deleting a filing', 'METHOD_NOT_ALLOWED', 'DELETE', '/partner/f_1', {}],
    ['the wrong method', 'METHOD_NOT_ALLOWED', 'GET', '/partner/calculate', {}],
    ['an unknown path', 'ROUTE_NOT_FOUND', 'GET', '/partner/filings/extra', {}],
    ['a path outside /partner', 'ROUTE_NOT_FOUND', 'GET', '/filings', {}],
    ['a broken escape in the path', 'MALFORMED_REQUEST', 'GET', '/partner/%zz', {}],
    ['an endless id', 'MALFORMED_REQUEST', 'GET', `/partner/${'x'.repeat(12_500)}`, {}],
  ];

  it.each(cases)('%s is a failure with the documented body: %s', async (_title, code, method, path, init) => {
    const headers = new Headers(init.headers);
    headers.set('PartnerKey', firstKey);
    const response = await fetch(`${sandbox.url}/v1${path}`, { ...init, method, headers });
    expect(response.status).toBe(errorStatus[code]);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toMatchObject({ code, message: expect.any(String) });
  });

  it('the wrong method is answered with the methods that there are', async () => {
    const { headers } = await sandbox.call('PATCH', '/create-filing');
    expect(headers.get('allow')).toBe('POST');
  });

  it('a request that is no HTTP gets the documented body as well', async () => {
    const answer = await sendRaw(sandbox.url, 'GET / HTTP/1.1\r\nno colon here\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'MALFORMED_REQUEST' });
  });

  it.each([
    ['headers', 'GET /v1/partner/me HTTP/1.1\r\nhost: a'],
    [
      'body',
      `POST /v1/partner/calculate HTTP/1.1\r\nhost: a\r\npartnerkey: ${firstKey}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
    ],
  ])('a request whose %s do not arrive in time gets the documented body as well', async (_what, bytes) => {
    await using hasty = await startSandbox({ requestTimeoutMs: 300 });
    const answer = await sendRaw(hasty.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('REQUEST_TIMEOUT');
  });

  it('headers beyond the limit get the documented body as well', async () => {
    const answer = await sendRaw(sandbox.url, `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('HEADERS_TOO_LARGE');
  });
});

describe('Versioning and addresses', () => {
  it('all paths hang below the version segment v1', async () => {
    const response = await fetch(`${sandbox.url}/partner/me`, { headers: { PartnerKey: firstKey } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
  });

  it('the root says what this is', async () => {
    const response = await fetch(sandbox.url);
    expect(await response.json()).toMatchObject({ name: 'filing-webhooks sandbox', baseUrl: '/v1' });
  });
});

describe('Lifecycle', () => {
  it('price, look up, upload, create, track: the five steps in order', async () => {
    const price = await sandbox.call<{ total: number }>('POST', '/calculate', {
      body: { filingType: 'NEW_BUSINESS', stateAbbr: 'CA', premium: 5000 },
    });
    expect(price.body.total).toBeGreaterThan(0);
    const body = await sandbox.filingBody('NEW_BUSINESS', 'CA');
    const { body: created } = await sandbox.call<Filing>('POST', '/create-filing', { body });
    const tracked = await sandbox.call<Filing>('GET', `/${created.id}`);
    const listed = await sandbox.call<{ items: Filing[] }>('GET', '/filings?limit=1');
    expect(tracked.body).toEqual(created);
    expect(listed.body.items).toEqual([created]);
  });
});

async function sendRaw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}
