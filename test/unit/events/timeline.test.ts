import { describe, expect, it } from 'vitest';
import { fitting, logBeginning, mayFollow, toOutline, withBody } from '../../../src/events/timeline.ts';
import { entriesOf } from './log-entries.ts';

const [a, b, c] = entriesOf('a', 'b', 'c') as [never, never, never];
const [, otherB, otherC] = entriesOf('a', 'other', 'c') as [never, never, never];
const unknown = (position: number) => ({ position, timeline: '' });

describe('mayFollow', () => {
  it.each([
    ['the first entry of a log', logBeginning, a, true],
    ['the next entry', a, b, true],
    ['another entry at the same place', a, otherB, true],
    ['the next entry of another timeline', b, otherC, false],
    ['an entry that is not behind', b, a, false],
    ['an entry behind what was trimmed', a, c, true],
    ['an entry behind a place of which nobody knows the timeline', unknown(1), b, true],
    [
      'an entry that was written before logs had timelines',
      b,
      { ...(c as object), timeline: '' } as never,
      true,
    ],
  ])('%s', (_, checkpoint, entry, expected) => {
    expect(mayFollow(checkpoint, entry)).toBe(expected);
  });
});

describe('an entry of the stream', () => {
  const stream = (...fields: readonly string[]) =>
    [Buffer.from('7-0'), fields.map((field) => Buffer.from(field))] as const;
  const head = ['id', 'evt_1', 'type', 't', 'filing', 'f', 'state', 'TX', 'at', '5'];
  const shown = {
    position: 7,
    id: 'evt_1',
    type: 't',
    filingId: 'f',
    state: 'TX',
    recordedAt: 5,
    status: '',
  };

  it('has its body elsewhere', () => {
    const entry = toOutline(stream(...head, 'timeline', 'abc', 'bytes', '12', 'status', 'PAID'));
    expect(entry).toEqual({ ...shown, timeline: 'abc', bytes: 12, status: 'PAID' });
    const body = Buffer.from('{"type":"t"}');
    expect(withBody(entry, body)).toEqual({ ...entry, body });
    expect(withBody(entry, Buffer.from('{}')), 'of another length').toBeNull();
    expect(withBody(entry, null)).toBeNull();
  });
});

describe('fitting', () => {
  const sized = (...sizes: readonly number[]) =>
    entriesOf(...sizes.map(String)).map((entry, i) => ({ ...entry, bytes: sizes[i] ?? 0 }));

  it.each([
    ['all that fit', [4, 4], 2],
    ['those before the first that does not', [4, 4, 4, 1], 2],
    ['the first however large it is', [40, 1], 1],
    ['none of none', [], 0],
  ])('%s', (_, sizes, expected) => {
    expect(fitting(sized(...sizes), 8)).toHaveLength(expected);
  });
});
