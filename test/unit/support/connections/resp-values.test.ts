import { expect, test } from 'vitest';
import { commandOf, isPush, splitValues } from '../../../support/connections/resp-values.ts';

const split = (text: string) => {
  const { values, rest } = splitValues(Buffer.from(text));
  return { values: values.map(String), rest: rest.toString() };
};

test.each([
  ['+OK\r\n'],
  ['-ERR a wrong\r\n'],
  [':12\r\n'],
  ['_\r\n'],
  ['$-1\r\n'],
  ['$4\r\n\r\n\r\n\r\n'],
  ['*0\r\n'],
  ['*-1\r\n'],
  ['*2\r\n$1\r\na\r\n*1\r\n:1\r\n'],
  ['%1\r\n+a\r\n~1\r\n#t\r\n'],
  ['=5\r\ntxt:a\r\n'],
])('%j is one value, and none while its end is missing', (value) => {
  expect(split(value + value)).toEqual({ values: [value, value], rest: '' });
  for (let length = 0; length < value.length; length += 1)
    expect(split(value.slice(0, length))).toEqual({ values: [], rest: value.slice(0, length) });
});

test('a request names its command, and a push answers none', () => {
  expect(commandOf(Buffer.from('*2\r\n$5\r\nhello\r\n$1\r\n3\r\n'))).toBe('HELLO');
  expect(isPush(Buffer.from('>1\r\n+a\r\n'))).toBe(true);
  expect(isPush(Buffer.from('*1\r\n+a\r\n'))).toBe(false);
});
