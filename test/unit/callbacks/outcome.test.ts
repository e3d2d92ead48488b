import { readFileSync } from 'node:fs';
import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { failureDetails, failureCodeOf } from '../../../src/callbacks/result.ts';
import {
  outcomeKinds,
  classifyOutcome,
  keptReason,
  outcomeWithoutToken,
} from '../../../src/callbacks/outcome.ts';
import type { CallbackFailureCode, CallbackResponse } from '../../../src/callbacks/result.ts';

function isFailureCode(code: string): code is CallbackFailureCode {
  return code in failureDetails;
}

const failureCodes = Object.keys(outcomeKinds)
  .filter(isFailureCode)
  .filter((code) => outcomeKinds[code] === 'retry');

function answer(statusCode: number, more: Partial<CallbackResponse> = {}): CallbackResponse {
  return {
    kind: 'response',
    statusCode,
    retryAfter: null,
    receivedAtMs: Date.parse('2026-11-21T10:00:00Z'),
    excerpt: '',
    headers: {},
    body: 'complete',
    durationMs: 1,
    ...more,
  };
}

describe('classifyOutcome', () => {
  it.each([200, 201, 202, 204, 206, 226, 299])('takes %d as delivered', (statusCode) => {
    expect(classifyOutcome(answer(statusCode))).toEqual({ kind: 'delivered', code: 'delivered' });
  });

  it.each(['cut', 'broken'] as const)('takes a 200 as delivered although its body was %s', (body) => {
    expect(classifyOutcome(answer(200, { body }))).toEqual({ kind: 'delivered', code: 'delivered' });
  });

  it.each([300, 301, 302, 303, 304, 307, 308, 399])('retries %d as a redirect', (statusCode) => {
    expect(classifyOutcome(answer(statusCode))).toMatchObject({ kind: 'retry', code: 'redirect' });
  });

  it.each([400, 401, 403, 404, 409, 418, 422, 429, 451, 500, 502, 503, 504, 599, 600, 999])(
    'retries %d as an HTTP error',
    (statusCode) => {
      expect(classifyOutcome(answer(statusCode))).toEqual({
        kind: 'retry',
        code: 'http_error',
        sent: true,
        reason: `The receiver answered ${statusCode}.`,
      });
    },
  );

  it('takes 410 as gone, whatever else it says', () => {
    expect(classifyOutcome(answer(410, { retryAfter: '5', body: 'broken' }))).toMatchObject({
      kind: 'gone',
      code: 'gone',
    });
  });

  it.each([429, 503])('slows down for a %d with Retry-After', (statusCode) => {
    for (const retryAfter of ['120', 'Sat, 21 Nov 2026 10:02:00 GMT']) {
      expect(classifyOutcome(answer(statusCode, { retryAfter }))).toMatchObject({
        kind: 'slow_down',
        code: 'slow_down',
        retryAfterMs: 120_000,
      });
    }
  });

  it.each([
    ['1e12', 3_600_000],
    ['0', 1000],
    ['Sat, 21 Nov 2020 10:00:00 GMT', 1000],
  ])('keeps the pause of Retry-After: %s within a second and an hour', (retryAfter, retryAfterMs) => {
    expect(classifyOutcome(answer(429, { retryAfter }))).toMatchObject({ kind: 'slow_down', retryAfterMs });
  });

  it.each([429, 503])('retries a %d whose Retry-After is unreadable', (statusCode) => {
    expect(classifyOutcome(answer(statusCode, { retryAfter: 'later' }))).toMatchObject({
      code: 'http_error',
    });
  });

  it.each([200, 301, 400, 500, 502])('ignores Retry-After on a %d', (statusCode) => {
    expect(classifyOutcome(answer(statusCode, { retryAfter: '5' })).kind).not.toBe('slow_down');
  });

  it.each(failureCodes)('retries %s under its own code', (code) => {
    const detail = failureDetails[code];
    expect(classifyOutcome({ kind: 'failure', code, detail, sent: false, durationMs: 1 })).toEqual({
      kind: 'retry',
      code,
      sent: false,
      reason: detail,
    });
  });
});

it('takes what this side cut off for itself as neither delivered nor failed', () => {
  const failure = { kind: 'failure', code: 'aborted', detail: 'x', sent: true, durationMs: 1 } as const;
  expect(classifyOutcome(failure)).toEqual({ kind: 'aborted', code: 'aborted', reason: 'x' });
});

describe('failureCodeOf', () => {
  it.each([
    ['ECONNREFUSED', 'connection_refused'],
    ['ECONNRESET', 'connection_reset'],
    ['EPIPE', 'connection_reset'],
    ['UND_ERR_SOCKET', 'connection_reset'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['ENOTFOUND', 'dns_error'],
    ['EAI_AGAIN', 'dns_error'],
    ['EAI_FAIL', 'dns_error'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_error'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_error'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_error'],
    ['CERT_HAS_EXPIRED', 'tls_error'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_error'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_error'],
    ['EPROTO', 'tls_error'],
    ['UND_ERR_HEADERS_OVERFLOW', 'response_too_large'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'malformed_response'],
    ['ERR_BLOCKED_ADDRESS', 'blocked_address'],
    ['EMFILE', 'sender_error'],
    ['EADDRNOTAVAIL', 'sender_error'],
    ['UND_ERR_INVALID_ARG', 'sender_error'],
    ['', 'sender_error'],
  ])('calls %s %s', (code, expected) => {
    expect(failureCodeOf(Object.assign(new Error('x'), { code }))).toBe(expected);
  });

  it('calls whatever the HTTP parser refuses malformed', () => {
    expect(failureCodeOf(new errors.HTTPParserError('Invalid character'))).toBe('malformed_response');
    expect(failureCodeOf(new errors.SocketError('bad upgrade'))).toBe('malformed_response');
  });

  it('charges what is no error at all to the sender', () => {
    expect(failureCodeOf('thrown text')).toBe('sender_error');
    expect(failureCodeOf(undefined)).toBe('sender_error');
  });
});

describe('docs/callback-outcomes.md', () => {
  const text = readFileSync(new URL('../../../docs/callback-outcomes.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` +\| `(\w+)` +\|/gm)].map(([, code = '', kind = '']) => [
    code,
    kind,
  ]);

  it('lists every outcome code once, with what it leads to, in the order of the code', () => {
    expect(rows).toEqual(Object.entries(outcomeKinds));
  });
});

describe('keptReason', () => {
  it('is the reason of what code and status do not say, in 200 characters', () => {
    const failed = (code: CallbackFailureCode, detail: string) =>
      keptReason(classifyOutcome({ kind: 'failure', code, detail, sent: false, durationMs: 1 }));
    for (const code of ['tls_error', 'proxy_error', 'proxy_refused'] as const)
      expect(failed(code, 'Which of them.')).toBe('Which of them.');
    expect(failed('tls_error', 'x'.repeat(200))).toHaveLength(200);
    expect(failed('tls_error', 'x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    const tokens = outcomeWithoutToken({ reason: 'answered 429', retryAfterMs: 1_000 });
    expect(keptReason(tokens)).toBe('answered 429');
    expect(failed('timeout', failureDetails.timeout)).toBeNull();
    for (const status of [200, 302, 410, 500]) expect(keptReason(classifyOutcome(answer(status)))).toBeNull();
  });
});
