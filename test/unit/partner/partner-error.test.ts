import { describe, expect, it } from 'vitest';
import {
  aboutFilings,
  consequence,
  isRefusal,
  kindOfStatus,
  meaningOf,
  PartnerError,
  type PartnerErrorKind,
} from '../../../src/partner/partner-error.ts';
import { repeatDelayMs } from '../../../src/partner/partner-client.ts';

const failed = (kind: PartnerErrorKind, status: number | null) => new PartnerError(kind, '', { status });

describe('a failed request', () => {
  // The status or, without an answer, the kind of failure; then what it means.
  it.each<[number | PartnerErrorKind, PartnerErrorKind, string, string, string, string | null, boolean]>([
    [401, 'auth', 'poll_ends', 'poll_ends', 'never', null, false],
    [403, 'auth', 'poll_ends', 'left_out', 'never', null, false],
    [429, 'rate_limited', 'poll_ends', 'poll_ends', 'after_wait', 'refused', false],
    [500, 'unavailable', 'left_out', 'left_out', 'soon', 'trouble', false],
    [503, 'unavailable', 'left_out', 'left_out', 'soon', 'trouble', false],
    [302, 'unexpected_status', 'left_out', 'left_out', 'never', null, false],
    [400, 'unexpected_status', 'left_out', 'left_out', 'never', null, true],
    [404, 'unexpected_status', 'left_out', 'left_out', 'never', null, true],
    [408, 'unexpected_status', 'left_out', 'left_out', 'never', null, false],
    ['timeout', 'timeout', 'left_out', 'left_out', 'soon', 'trouble', false],
    ['network', 'network', 'left_out', 'left_out', 'soon', 'trouble', false],
    ['invalid_response', 'invalid_response', 'left_out', 'left_out', 'soon', null, false],
    ['aborted', 'aborted', 'poll_ends', 'poll_ends', 'never', null, false],
  ])(
    'with %s is %s: list %s, filing %s, repeated %s, pace %j, refusal %j',
    (answer, kind, list, filing, repeat, pace, refusal) => {
      const status = typeof answer === 'number' ? answer : null;
      expect(status === null ? kind : kindOfStatus(status)).toBe(kind);
      const error = failed(kind, status);
      expect(meaningOf(error)).toEqual({ list, filing, repeat, pace, isRefusal: refusal });
      expect([consequence(error, 'list'), consequence(error, 'filing')]).toEqual([list, filing]);
      expect(isRefusal(error)).toBe(refusal);
      expect(repeatDelayMs(error, 1, 1, () => 0.5)).toBe(repeat === 'soon' ? 300 : null);
    },
  );

  it('is none with 2xx', () => {
    expect([200, 204, 299].map(kindOfStatus)).toEqual([null, null, null]);
  });

  it('about filings alone does not count as a refusal of the key', () => {
    expect(aboutFilings(failed('auth', 403))).toMatchObject({ kind: 'unexpected_status', status: 403 });
    const unavailable = failed('unavailable', 503);
    expect(aboutFilings(unavailable)).toBe(unavailable);
  });
});
