import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { nullable, record, show, time, timeOrNull } from '../../../../src/api/shared/schema.ts';

const at = Date.UTC(2026, 10, 21, 10);
const schema = record({
  name: Type.String(),
  createdAt: time('When it was made.'),
  endedAt: timeOrNull('When it ended.'),
  part: nullable(record({ seenAt: timeOrNull('When it was seen.') })),
});

test('an object is shown with the fields of its schema alone, also inside', () => {
  const stored = {
    name: 'one',
    createdAt: at,
    endedAt: 0,
    part: { seenAt: at, key: 'secret' },
    key: 'secret',
  };
  expect(show(schema, stored)).toEqual({
    name: 'one',
    createdAt: '2026-11-21T10:00:00.000Z',
    endedAt: null,
    part: { seenAt: '2026-11-21T10:00:00.000Z' },
  });
});

test('a time that is always known is shown even at the epoch, and null stays null', () => {
  const shown = show(schema, { name: 'one', createdAt: 0, endedAt: null, part: null });
  expect(shown).toEqual({ name: 'one', createdAt: '1970-01-01T00:00:00.000Z', endedAt: null, part: null });
});
