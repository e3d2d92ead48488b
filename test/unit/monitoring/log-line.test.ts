import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundLine, lineCharactersMax } from '../../../src/monitoring/log-stream.ts';

const line = (fields: object) => `${JSON.stringify({ level: 30, time: 1, ...fields })}\n`;

test('a line of usual length is written as it is', () => {
  const text = line({ reason: 'a'.repeat(2_000), msg: 'poll.failed' });
  expect(boundLine(text)).toBe(text);
});

test('of a longer one the long texts and lists are cut, and the rest is kept', () => {
  const fields = {
    account: 'a',
    error: { name: 'Error', message: 'x'.repeat(1_000_000) },
    msg: 'poll.failed',
  };
  expect(JSON.parse(boundLine(line({ ...fields, accounts: Array(5_000).fill('b') })))).toEqual({
    level: 30,
    time: 1,
    account: 'a',
    error: { name: 'Error', message: `${'x'.repeat(1_000)}…` },
    accounts: Array(100).fill('b'),
    msg: 'poll.failed',
    cut: true,
  });
});

test('what is long in another way leaves what it is about', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x-${i}`, '']));
  const about = { account: 'a', msg: 'http.failed' };
  expect(JSON.parse(boundLine(line({ ...about, many })))).toEqual({
    level: 30,
    time: 1,
    ...about,
    cut: true,
  });
});

test('every line is one line of JSON within the bound', () => {
  const member = fc.tuple(fc.string(), fc.nat(40_000)).map(([text, times]) => text.repeat(times));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(member, fc.jsonValue())), (fields) => {
      const written = boundLine(line({ ...fields, msg: 'm' }));
      expect(written.length).toBeLessThanOrEqual(lineCharactersMax);
      expect(written.indexOf('\n')).toBe(written.length - 1);
      expect(JSON.parse(written)).toMatchObject({ msg: 'm' });
    }),
  );
});
