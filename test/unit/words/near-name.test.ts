import { expect, test } from 'vitest';
import { likelyName, nearName, quoted, unknownWord } from '../../../src/words/near-name.ts';

const fields = ['url', 'eventTypes', 'states', 'description', 'pollIntervalMs'];

test.each([
  ['event_types', 'eventTypes'],
  ['EventTypes', 'eventTypes'],
  ['evnetTypes', 'eventTypes'],
  ['URL', 'url'],
  ['urls', 'url'],
  ['descripton', 'description'],
  ['pollIntervallMs', 'pollIntervalMs'],
  ['q', null],
  ['since', null],
  ['', null],
])('%j is near %j', (text, name) => {
  expect(nearName(text, fields)).toBe(name);
});

test('a part of a name is likely meant to be it', () => {
  expect(likelyName('types', fields)).toBe('eventTypes');
  expect(likelyName('interval', fields)).toBe('pollIntervalMs');
  expect(likelyName('ev', fields)).toBeNull();
});

test('a name that begins with the word is meant before one that is spelt alike', () => {
  expect(likelyName('status', ['states', 'statuses'])).toBe('statuses');
  expect(likelyName('state', ['statuses', 'states'])).toBe('states');
  expect(likelyName('Event_Type', ['eventTypesSince', 'eventTypes'])).toBe('eventTypes');
  expect(likelyName('sates', ['statuses', 'states'])).toBe('states');
});

test('a long text is near nothing and takes no time', () => {
  const long = 'eventTypes'.repeat(25_000);
  expect(nearName(long, fields)).toBeNull();
  expect(likelyName(long, fields)).toBeNull();
  expect(unknownWord(long, 'field', fields).length).toBeLessThan(200);
});

test('the message names what may be meant and what there is', () => {
  expect(unknownWord('slck', 'format', ['standard', 'slack'])).toBe(
    '"slck" is no format; did you mean slack? Known: standard, slack',
  );
  expect(unknownWord('xml', 'format', ['standard', 'slack'])).toBe(
    '"xml" is no format. Known: standard, slack',
  );
});

test('what is repeated stays on one line and short', () => {
  expect(quoted('a\r\nb\u0000')).toBe(String.raw`"a\r\nb\u0000"`);
  expect(quoted('x'.repeat(50))).toBe(`"${'x'.repeat(40)}…"`);
});
