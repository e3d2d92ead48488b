import { expect, test } from 'vitest';
import { toProblem } from '../../../../src/api/server/error-handler.ts';
import { invalidRequest, Problem, problemBody, problemCodes } from '../../../../src/api/shared/problem.ts';
import { isStoreFailure } from '../../../../src/redis/store-failure.ts';
import { SealError } from '../../../../src/secrets/seal.ts';

const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

test.each([
  new Error('Connection is closed.'),
  new Error('Command timed out'),
  new Error("Stream isn't writeable and enableOfflineQueue options is false"),
  new Error("Cluster isn't ready and enableOfflineQueue options is false"),
  named('MaxRetriesPerRequestError', 'Reached the max retries per request limit'),
  named('ClusterAllFailedError', 'Failed to refresh slots cache.'),
  named('AbortError', 'Command aborted due to connection close'),
  coded('ECONNREFUSED'),
  coded('ECONNRESET'),
  named(
    'ReplyError',
    "OOM command not allowed when used memory > 'maxmemory'. script: a, on @user_script:1.",
  ),
  named('ReplyError', "READONLY You can't write against a read only replica."),
  named('ReplyError', 'LOADING Redis is loading the dataset in memory'),
  named('ReplyError', 'MISCONF Redis is configured to save RDB snapshots'),
  named('ReplyError', 'CLUSTERDOWN The cluster is down'),
  named('ReplyError', 'NOAUTH Authentication required.'),
  named('ReplyError', 'ERR max number of clients reached'),
])('%s means that Redis is away', (error) => {
  expect(isStoreFailure(error)).toBe(true);
  expect(toProblem(error)).toMatchObject({ code: 'store_unavailable', headers: { 'retry-after': '5' } });
});

test.each([
  new Error('something else'),
  new TypeError("Cannot read properties of undefined (reading 'x')"),
  named('ReplyError', 'ERR syntax error'),
  'a string',
  undefined,
  null,
])('%s is a fault of the daemon and shows nothing', (error) => {
  expect(isStoreFailure(error)).toBe(false);
  const problem = toProblem(error);
  expect(problem.code).toBe('internal_error');
  expect(problem.message).not.toMatch(/something|undefined|syntax/);
});

test.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR value is not an integer or out of range',
])('%s means that a stored record cannot be read, and names its key', (message) => {
  const error = Object.assign(named('ReplyError', message), {
    command: { name: 'hget', args: ['p:{a}:x', 'f'] },
  });
  const problem = toProblem(error);
  expect(problem.code).toBe('record_unreadable');
  expect(problem.message).toContain('p:{a}:x');
  expect(problem.message).not.toMatch(/WRONGTYPE|integer/);
});

test.each([
  [coded('FST_ERR_CTP_BODY_TOO_LARGE'), 'payload_too_large'],
  [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 'unsupported_media_type'],
  [coded('FST_ERR_MAX_PARAM_LENGTH'), 'uri_too_long'],
  [coded('FST_ERR_BAD_URL'), 'malformed_request'],
  [coded('FST_ERR_HANDLER_TIMEOUT'), 'timeout'],
  [new SealError('A stored secret was sealed with key "a"'), 'secret_unreadable'],
])('%s becomes %s', (error, code) => {
  expect(toProblem(error).code).toBe(code);
});

test('the problem of a sealed secret names the missing key, as readiness does', () => {
  const problem = toProblem(new SealError('sealed with key "prod-7"'));
  expect([problem.statusCode, problem.message]).toEqual([503, 'sealed with key "prod-7"']);
});

test('every code has a status of an error, and a title', () => {
  for (const [status, title] of Object.values(problemCodes)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title).toMatch(/^[A-Z]/);
  }
});

test('the body of a problem holds code, status, title and what to do', () => {
  expect(problemBody(new Problem('token_not_found', 'Look at the list.'))).toEqual({
    type: '/problems/token_not_found',
    title: 'No such token',
    status: 404,
    code: 'token_not_found',
    detail: 'Look at the list.',
  });
});

test('the detail of a refusal says what is wrong with one value, and names several', () => {
  const one = { path: 'url', message: 'is required' };
  expect(invalidRequest([one]).message).toBe('url is required.');
  expect(invalidRequest([{ path: '', message: 'The body must be a JSON object' }]).message).toBe(
    'The body must be a JSON object.',
  );
  expect(invalidRequest([one, { path: 'format', message: 'x' }]).message).toContain('url, format');
});

test('a refusal names ten wrong values at most, and no path in full that is thousands of characters long', () => {
  const many = Array.from({ length: 11 }, (_, i) => ({ path: `f${i}`, message: 'is not known' }));
  expect(invalidRequest(many).errors).toEqual(many.slice(0, 10));
  expect(invalidRequest(many).message).toContain('More than 10 values');
  expect(invalidRequest(many.slice(1)).message).toContain('10 values are not valid');
  const [error] = invalidRequest([{ path: 'x'.repeat(5_000), message: 'is not known' }]).errors;
  expect(error?.path).toBe(`${'x'.repeat(200)}…`);
});
