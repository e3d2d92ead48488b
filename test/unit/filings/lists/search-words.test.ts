import { expect, test } from 'vitest';
import { globOfPart, searchWords } from '../../../../src/filings/lists/search-words.ts';

const details = {
  policyNumber: 'SL-2031',
  insuredsName: 'Müller & "Söhne" \\ Co',
  stateAbbr: 'TX',
  filingType: 'NEW_BUSINESS',
  premium: 12.5,
};

test.each([
  ['sl-2031', true],
  ['MÜLLER', true],
  ['co 2031', true],
  ['"söhne"', true],
  ['\\', true],
  ['f_A1', true],
  ['müller texas', false],
  ['sl.2031', false],
  ['new_business', false],
])('%s is found: %s, and what may match is never refused before', (text, isFound) => {
  const words = searchWords(text);
  expect(words.matches('F_a1', details)).toBe(isFound);
  expect(words.mayMatch('F_a1', JSON.stringify(details)) || !isFound).toBe(true);
});

test('a filing without details is found by its id alone', () => {
  const words = searchWords('a1');
  expect([words.mayMatch('F_A1', null), words.matches('F_A1', null)]).toEqual([true, true]);
  expect(searchWords('b1').mayMatch('F_A1', null)).toBe(false);
});

test('an id is looked for letter by letter, with nothing that Redis takes for a pattern', () => {
  expect(globOfPart('aB-[*]?\\')).toBe('*[aA][bB]-\\[\\*\\]\\?\\\\*');
});
