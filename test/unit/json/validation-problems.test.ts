import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { fieldErrors } from '../../../src/json/validation-problems.ts';

const item = Type.Object({ name: Type.String({ pattern: '\\S' }) }, { additionalProperties: false });
const schema = Type.Object(
  { kind: Type.Union([Type.Literal('a'), Type.Literal('b')]), items: Type.Optional(Type.Array(item)) },
  { additionalProperties: false },
);
const check = Compile(schema);

test('a field is named once, by its first problem, with its whole path', () => {
  const errors = fieldErrors(check.Errors({ kind: 'c', items: [{ name: ' ' }, { 'x/y~z': 1 }] }));
  expect(errors.map(({ path }) => path).toSorted()).toEqual([
    'items.0.name',
    'items.1.name',
    'items.1.x/y~z',
    'kind',
  ]);
  expect(errors).toContainEqual({ path: 'items.1.name', message: 'is required' });
  expect(errors).toContainEqual({ path: 'items.1.x/y~z', message: 'is not known' });
});

test('a finding may be put into other words by its keyword and its place', () => {
  const errors = fieldErrors(
    check.Errors({ kind: 'a', items: [{ name: ' ' }], extra: 1 }),
    (violation, at) => (violation.keyword === 'pattern' ? `is blank at ${at.length}` : undefined),
  );
  expect(errors).toEqual([
    { path: 'extra', message: 'is not known' },
    { path: 'items.0.name', message: 'is blank at 3' },
  ]);
});

test('nothing is wrong with a right value', () => {
  expect(fieldErrors(check.Errors({ kind: 'a' }))).toEqual([]);
});
