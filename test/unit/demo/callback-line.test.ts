import { describe, expect, test } from 'vitest';
import { formatCallback, printable } from '../../../src/demo/callback-line.ts';

const plain = (_style: string, text: string): string => text;

describe('the line about a callback', () => {
  test('tells status before and after, insured, policy, state and why it was rejected', () => {
    const line = formatCallback(
      {
        type: 'filing.rejected',
        timestamp: '2026-11-21T10:00:03.120Z',
        data: {
          filingId: 'f_1',
          status: 'REJECTED',
          previousStatus: 'PENDING',
          rejectionReason: 'Affidavit is not signed',
          filing: { insuredsName: 'Blue Heron LLC', policyNumber: 'P-1', filingState: { stateAbbr: 'TX' } },
        },
      },
      plain,
    );
    expect(line).toMatch(
      /^\d\d:\d\d:03 {2}verified {2}PENDING {3}→ REJECTED {3}Blue Heron LLC · policy P-1 · TX · because: Affidavit is not signed$/,
    );
  });

  test('does without what a callback does not carry', () => {
    expect(formatCallback({ data: { filingId: 'f_1', status: 'PAID', previousStatus: null } }, plain)).toBe(
      '--:--:--  verified  new       → PAID       filing f_1',
    );
    expect(formatCallback(null, plain)).toContain('verified');
  });

  test.each([
    ['escape sequences', 'a\u001b[2Jb\u009b31mc', 'a\ufffd[2Jb\ufffd31mc'],
    ['new lines', 'a\r\nb\u2028c', 'a\ufffd\ufffdb\ufffdc'],
    ['bidirectional overrides', 'a\u202eb\u2066c', 'a\ufffdb\ufffdc'],
    ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
  ])('shows %s as replacement characters', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test('cuts a long text without breaking a character', () => {
    expect(printable('😀'.repeat(100), 3)).toBe('😀😀…');
  });
});
