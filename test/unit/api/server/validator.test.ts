import { Type } from 'typebox';
import { Settings } from 'typebox/system';
import { expect, test } from 'vitest';
import { nullable, oneOf, record } from '../../../../src/api/shared/schema.ts';
import type { Problem } from '../../../../src/api/shared/problem.ts';
import { compileValidator } from '../../../../src/api/server/validator.ts';

type Result = { readonly value?: unknown; readonly error?: Problem };

function check(schema: object, value: unknown, httpPart = 'body'): Result {
  const validate = compileValidator({ schema: schema, method: 'POST', url: '/', httpPart });
  return validate(value) as unknown as Result;
}

const schema = record({
  a: nullable(Type.String({ maxLength: 3 })),
  b: Type.Optional(Type.Integer({ minimum: 1 })),
  c: Type.Optional(oneOf(['x', 'y'])),
  d: Type.Optional(Type.Record(Type.String(), Type.String())),
});

test('a right value comes back as it is', () => {
  const value = { a: null, b: 2, c: 'x' };
  expect(check(schema, value)).toEqual({ value });
});

test('each wrong field is named once, with what it must be', () => {
  const { error } = check(schema, { a: 'long', b: 0, c: 'z', d: { 'x/y.z~': 1 }, e: 1 });
  expect(error?.code).toBe('invalid_request');
  expect(error?.errors).toEqual([
    { path: 'e', message: 'is not known. Known: a, b, c, d' },
    { path: 'a', message: 'must not have more than 3 characters' },
    { path: 'b', message: 'must be >= 1' },
    { path: 'c', message: '"z" is no c. Known: x, y' },
    { path: 'd.x/y.z~', message: 'must be a text' },
  ]);
});

test('what is missing is named', () => {
  expect(check(schema, {}).error?.errors).toEqual([{ path: 'a', message: 'is required' }]);
});

test.each([null, [], 'text', 5, true])('%j is no body', (value) => {
  expect(check(schema, value).error?.errors).toEqual([
    { path: '', message: 'The body must be a JSON object' },
  ]);
});

test('the first ten wrong fields are named, more than TypeBox lists by itself, and its setting stays', () => {
  const before = Settings.Get().maxErrors;
  const wrong = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]));
  const { error: ten } = check(schema, { a: null, ...wrong(10) });
  expect(ten?.errors).toHaveLength(10);
  expect(ten?.message).toMatch(/^10 values are not valid: f0/);
  const { error: more } = check(schema, { a: null, ...wrong(11) });
  expect(more?.errors).toEqual(ten?.errors);
  expect(more?.message).toMatch(/^More than 10 values are not valid; the first are: f0/);
  expect(Settings.Get().maxErrors).toBe(before);
});

test.each([
  ['5', 5],
  ['005', 5],
  ['-5', null],
  ['5.0', null],
  ['0x5', null],
  ['1e1', null],
  [' 5', null],
  ['', null],
  ['٥', null],
  ['99999999999', null],
])('the query value %j is read as %j', (text, number) => {
  const { value, error } = check(record({ n: Type.Integer() }), { n: text }, 'querystring');
  expect(error === undefined ? value : null).toEqual(number === null ? null : { n: number });
});

test('text of a query stays text', () => {
  expect(check(record({ s: Type.String() }), { s: '5' }, 'querystring')).toEqual({ value: { s: '5' } });
});
