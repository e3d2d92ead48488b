import { describe, expect, it } from 'vitest';
import { shorten } from '../../../src/api/shared/problem.ts';
import { keptReason } from '../../../src/callbacks/outcome.ts';
import { oneLine } from '../../../src/callbacks/messages/words.ts';
import { stateAbbreviation } from '../../../src/events/event.ts';
import { toDetails } from '../../../src/filings/detection/filing-details.ts';
import { cutText } from '../../../src/json/cut-text.ts';
import { boundLine } from '../../../src/monitoring/log-stream.ts';
import { quoted } from '../../../src/words/near-name.ts';

describe('cutText', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀', 3, 'ab'],
    ['ab😀c', 4, 'ab😀'],
    ['😀', 1, ''],
    ['ab\ud83d', 3, 'ab\ud83d'],
    ['', 3, ''],
    ['abc', 0, ''],
  ])('of %j to %d is %j', (text, max, expected) => {
    expect(cutText(text, max)).toBe(expected);
  });
});

// One of two texts that differ by a letter has a pair of surrogates at the cut, wherever that is.
describe.each(['😀'.repeat(20_000), `a${'😀'.repeat(20_000)}`])(
  'a text of others is cut between characters',
  (text) => {
    it.each<[string, () => string]>([
      ['in problems of the API', () => shorten(text, 200)],
      [
        'in the reason of an attempt',
        () => keptReason({ kind: 'retry', code: 'tls_error', sent: false, reason: text }) ?? '',
      ],
      ['in messages to people', () => oneLine(text, 100)],
      ['in abbreviations', () => stateAbbreviation({ filingState: { stateAbbr: text } })],
      ['in details for the search', () => toDetails({ insuredsName: text })?.insuredsName ?? ''],
      ['in lines of the log', () => boundLine(`${JSON.stringify({ msg: 'm', text })}\n`)],
      ['in names that are not known', () => quoted(text)],
    ])('%s', (_title, cut) => {
      const seen = cut();
      expect(seen).toContain('😀');
      expect(seen).not.toMatch(
        /\ufffd|\\ud83d|\\ude00|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/,
      );
    });
  },
);
