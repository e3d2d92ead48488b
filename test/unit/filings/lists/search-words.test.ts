import { expect, test } from 'vitest';
import { detailsOf } from '../../../support/details-of.ts';
import { globOfPart, searchWords } from '../../../../src/filings/lists/search-words.ts';

const details = detailsOf({
  policyNumber: 'SL-2031',
  insuredsName: 'Müller & "Söhne" \\ Co',
  filingState: { stateAbbr: 'TX' },
  filingType: 'NEW_BUSINESS',
  premium: 12.5,
});

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
  ['\u200B', false],
])('%s is found: %s, and what may match is never refused before', (text, isFound) => {
  const words = searchWords(text);
  expect(words.matches('F_a1', details)).toBe(isFound);
  expect(words.mayMatch('F_a1', JSON.stringify(details)) || !isFound).toBe(true);
});

test.each([
  ['José', 'Jose\u0301'],
  ['istanbul', 'İstanbul'],
  ['ISTANBUL', 'ıstanbul'],
  ['strasse', 'Straße'],
  ['GROẞ', 'gross'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδος', 'ΟΔΟΣ'],
  ['oﬃce', 'OFFICE'],
  ['Ｔｒｕｃｋ', 'truck'],
  ['kelvin', '\u212Aelvin'],
  ['ǰ', 'ǰ'.normalize('NFD')],
  ['trans\u00ADport', 'trans\u200Bport'],
  ['＂Nord＂', '"Nord"'],
  ['"Nord"', '＂Nord＂'],
  ['각', '각'.normalize('NFD')],
])('%j and %j are found by each other', (one, other) => {
  for (const [typed, kept] of [
    [one, other],
    [other, one],
  ] as const) {
    const [words, of] = [searchWords(typed), { ...details, insuredsName: `The ${kept} Co` }];
    expect([words.mayMatch('f', JSON.stringify(of)), words.matches('f', of)]).toEqual([true, true]);
  }
});

test('a filing without details is found by its id alone', () => {
  const words = searchWords('a1');
  expect([words.mayMatch('F_A1', null), words.matches('F_A1', null)]).toEqual([true, true]);
  expect(searchWords('b1').mayMatch('F_A1', null)).toBe(false);
});

test('an id is looked for letter by letter, with nothing that Redis takes for a pattern', () => {
  expect(globOfPart('aB-[*]?\\')).toBe('*[aA][bB]-\\[\\*\\]\\?\\\\*');
  // Redis compares bytes: what else a letter may be written as is left to the daemon.
  expect(globOfPart('né1')).toBe('*[nN]*1*');
});
