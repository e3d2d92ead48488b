import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { beyondBounds } from '../../../src/json/schema-bounds.ts';

const schema = Type.Object(
  {
    text: Type.String({ maxLength: 3 }),
    long: Type.String({ maxLength: 10_000 }),
    words: Type.Array(Type.String(), { maxItems: 2, uniqueItems: true }),
    list: Type.Array(Type.Object({ name: Type.String() })),
    map: Type.Record(Type.String(), Type.String()),
    few: Type.Record(Type.String(), Type.String(), { maxProperties: 1 }),
  },
  { additionalProperties: false },
);
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, '']));
const items = (count: number, item: unknown = '') => Array.from({ length: count }, () => item);
const a = (length: number) => 'a'.repeat(length);

describe('what is short enough for a check in full', () => {
  test.each([
    {},
    { text: 'abcd' }, // for the schema to refuse
    { text: a(8_192), long: a(10_000) },
    { words: ['a', 'b'], list: items(100, { name: 'a' }), map: fields(100), few: fields(1) },
    { ...fields(10), text: 'a' },
    { text: [], words: {}, map: 'a', list: null },
    null,
    5,
    'text',
    [],
  ])('%j', (value) => {
    expect(beyondBounds(schema, value)).toEqual([]);
  });
});

describe('what is too long', () => {
  test.each([
    [{ text: a(8_193) }, 'text', 'must not have more than 3 characters'],
    [{ long: a(10_001) }, 'long', 'must not have more than 10000 characters'],
    [{ words: items(3) }, 'words', 'must not have more than 2 items'],
    [{ words: ['a', a(8_193)] }, 'words.1', 'must not have more than 8192 characters'],
    [{ words: ['a', items(50_000)] }, 'words.1', 'must be a text'],
    [{ words: [{}] }, 'words.0', 'must be a text'],
    [{ list: items(101) }, 'list', 'must not have more than 100 items'],
    [{ list: [{ name: a(8_193) }] }, 'list.0.name', 'must not have more than 8192 characters'],
    [{ map: fields(101) }, 'map', 'must not have more than 100 fields'],
    [{ map: { x: a(8_193) } }, 'map.x', 'must not have more than 8192 characters'],
    [{ few: fields(2) }, 'few', 'must not have more than 1 fields'],
    [{ map: items(101) }, 'map', 'must not have more than 100 items'],
    [a(8_193), '', 'must not have more than 8192 characters'],
    [items(101), '', 'must not have more than 100 items'],
  ])('%#: %s', (value, path, message) => {
    expect(beyondBounds(schema, value)).toEqual([{ path, message }]);
  });

  test('of unknown fields, more than a response lists: the first of them are named', () => {
    const found = beyondBounds(schema, { ...fields(5_000), text: 'a' });
    expect(found).toHaveLength(11);
    expect(found[0]).toEqual({ path: 'f0', message: 'is not known' });
  });

  test('in an object that takes any further field, only the known ones are looked at', () => {
    const open = Type.Object({ text: Type.String() });
    expect(beyondBounds(open, { ...fields(500), more: items(500) })).toEqual([]);
  });
});

test('values at places without any are not looked into, however deep they are', () => {
  const reached: (string | symbol)[] = [];
  const trap = new Proxy({}, { get: (_target, name) => reached.push(name), ownKeys: () => reached });
  expect(beyondBounds(schema, { text: [trap], unknown: { trap } })).toEqual([]);
  expect(reached).toEqual([]);
});
