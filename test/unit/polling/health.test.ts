import { describe, expect, it } from 'vitest';
import { encodeDoubt, type Doubt } from '../../../src/polling/beliefs/doubt.ts';
import type { DoubtReason } from '../../../src/polling/beliefs/weigh.ts';
import type { PollOutcome } from '../../../src/polling/poll-outcome.ts';
import { noMarks, type PollingMarks } from '../../../src/polling/store/marks.ts';
import {
  buildHealthEvent,
  healthChange,
  healthState,
  staleAfterMs,
  type PollNews,
  type HealthChange,
} from '../../../src/polling/health.ts';

const marks = (more: Partial<PollingMarks>): PollingMarks => ({
  ...noMarks,
  generation: 'g',
  baselined: true,
  dryPolls: 0,
  hidden: 0,
  baselinedAt: 0,
  lastPollAt: 0,
  scheduledPollAt: 0,
  lastCompletePollAt: 1_000_000,
  lastCompleteEndAt: 0,
  lastSweepAt: 0,
  sweepTriedAt: 0,
  consecutiveFailures: 0,
  backoffUntil: 0,
  lastError: '',
  leftOut: '',
  authFailed: false,
  staleReported: false,
  doubt: '',
  identity: '',
  identityAt: 0,
  toldAt: 0,
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  countedAt: 0,
  removals: 0,
  budgetWaitMs: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
  ...more,
});
const doubt: Doubt = {
  reason: 'other_list',
  known: 300,
  shown: 0,
  unknown: 40,
  gone: 0,
  moved: 0,
  identity: '',
};
const held = encodeDoubt({ ...doubt, since: 5, accepted: false });
const accepted = encodeDoubt({ ...doubt, since: 5, accepted: true });
const soon = 1_010_000;
const late = 1_080_000;

describe('healthState', () => {
  it.each<[string, Partial<PollingMarks>, number, string]>([
    ['a complete poll a moment ago', {}, soon, 'ok'],
    ['polls that wait for their turns for four intervals', { budgetWaitMs: 60_000 }, soon, 'ok'],
    ['polls that wait for their turns for longer', { budgetWaitMs: 80_000 }, soon, 'stale'],
    ['a baseline that waits for its turns', { baselined: false, budgetWaitMs: 80_000 }, soon, 'baselining'],
    ['no baseline yet', { baselined: false }, soon, 'baselining'],
    ['no baseline for a long while', { baselined: false }, late, 'baselining'],
    ['no baseline for a long while, failing', { baselined: false, consecutiveFailures: 2 }, late, 'stale'],
    ['a wait after a failure', { consecutiveFailures: 1, backoffUntil: soon + 1 }, soon, 'backing_off'],
    [
      'a wait that is over, the next poll under way',
      { consecutiveFailures: 1, backoffUntil: soon - 1 },
      soon,
      'backing_off',
    ],
    ['an incomplete poll', { consecutiveFailures: 1 }, soon, 'ok'],
    ['no complete poll for long', {}, late, 'stale'],
    ['polls that take long', { lastCompleteEndAt: 1_040_000 }, late, 'ok'],
    ['polls that take long, and none for longer', { lastCompleteEndAt: 1_040_000 }, 1_160_000, 'stale'],
    ['failures for long', { consecutiveFailures: 5, backoffUntil: late }, late, 'stale'],
    ['findings held back', { doubt: held }, soon, 'doubtful'],
    [
      'findings held back for long, while polls fail',
      { doubt: held, consecutiveFailures: 3 },
      late,
      'doubtful',
    ],
    ['findings held back, and then a refused key', { doubt: held, authFailed: true }, soon, 'auth_failed'],
    ['findings that were accepted', { doubt: accepted }, soon, 'ok'],
    ['findings that were accepted, and no complete poll since', { doubt: accepted }, late, 'stale'],
    ['a doubt that cannot be read', { doubt: '{' }, soon, 'ok'],
    ['a refused key', { authFailed: true, consecutiveFailures: 5, backoffUntil: late }, late, 'auth_failed'],
  ])('%s', (_title, more, now, expected) => {
    expect(healthState(marks(more), 15_000, 0, now)).toBe(expected);
  });

  it('counts a new account from its creation', () => {
    const never = marks({
      lastCompletePollAt: 0,
      baselined: false,
      consecutiveFailures: 1,
      backoffUntil: late,
    });
    expect(healthState(never, 15_000, 1_000_000, soon)).toBe('backing_off');
    expect(healthState(never, 15_000, 1_000_000, late)).toBe('stale');
  });

  it('is patient with very short intervals', () => {
    expect([staleAfterMs(15_000), staleAfterMs(10)]).toEqual([75_000, 2_000]);
  });
});

describe('healthChange', () => {
  const complete: PollOutcome & { readonly kind: 'complete' } = {
    kind: 'complete',
    mode: 'delta',
    events: 0,
    unread: 0,
  };
  const incomplete: PollOutcome = { kind: 'incomplete', mode: 'delta', events: 0, unread: 0, message: '' };
  const failed = (reason: 'auth' | 'timeout'): PollOutcome => ({
    kind: 'failed',
    reason,
    message: '',
    retryInMs: 1,
  });
  const doubtful = (reason: DoubtReason): PollOutcome => ({
    kind: 'doubtful',
    mode: 'sweep',
    events: 0,
    unread: 0,
    doubt: { ...doubt, reason },
    message: '',
  });
  const waiting: PollOutcome = { kind: 'backing_off' };
  const failing = { consecutiveFailures: 3, backoffUntil: late };

  it.each<[string, Partial<PollingMarks>, PollNews, number, string | null]>([
    ['all is well', {}, complete, soon, null],
    ['a key is refused', failing, failed('auth'), soon, 'account.auth_failed'],
    ['it is refused again', { ...failing, authFailed: true }, failed('auth'), late, null],
    [
      'it is refused after the account was stale',
      { ...failing, staleReported: true },
      failed('auth'),
      late,
      'account.auth_failed',
    ],
    ['a poll fails', failing, failed('timeout'), soon, null],
    ['polls fail for long', failing, failed('timeout'), late, 'account.stale'],
    ['polls fail for longer', { ...failing, staleReported: true }, failed('timeout'), late, null],
    ['polls fail otherwise after a refusal', { ...failing, authFailed: true }, failed('timeout'), late, null],
    ['polls are incomplete for long', { consecutiveFailures: 9 }, incomplete, late, 'account.stale'],
    ['a poll is incomplete', { consecutiveFailures: 1 }, incomplete, soon, null],
    [
      'a poll is incomplete after a refusal: the key is good',
      { authFailed: true },
      incomplete,
      late,
      'account.recovered',
    ],
    ['a wait takes long', failing, waiting, late, 'account.stale'],
    ['a wait is short', failing, waiting, soon, null],
    ['a stale account is polled', { staleReported: true }, complete, soon, 'account.recovered'],
    [
      'a complete poll waited too long for its turns',
      { budgetWaitMs: 80_000 },
      complete,
      soon,
      'account.stale',
    ],
    ['it goes on so', { budgetWaitMs: 80_000, staleReported: true }, complete, soon, null],
    ['one under way waits too long', { budgetWaitMs: 80_000 }, { kind: 'waiting' }, soon, 'account.stale'],
    ['one under way waits', { budgetWaitMs: 60_000 }, { kind: 'waiting' }, soon, null],
    ['findings are doubted', {}, doubtful('other_list'), soon, 'account.doubtful'],
    ['they are doubted again', { doubt: held }, doubtful('removal_wave'), soon, null],
    [
      'another account answers meanwhile',
      { doubt: held },
      doubtful('other_account'),
      soon,
      'account.doubtful',
    ],
    [
      'more is doubted than was accepted',
      { doubt: accepted },
      doubtful('other_account'),
      soon,
      'account.doubtful',
    ],
    [
      'the key works again, and findings are doubted',
      { doubt: held, authFailed: true },
      doubtful('other_list'),
      soon,
      'account.doubtful',
    ],
    [
      'a key is refused while findings are doubted',
      { ...failing, doubt: held },
      failed('auth'),
      soon,
      'account.auth_failed',
    ],
    [
      'polls fail for long while findings are doubted',
      { ...failing, doubt: held },
      failed('timeout'),
      late,
      null,
    ],
    ['a poll is incomplete while findings are doubted', { doubt: held }, incomplete, soon, null],
    [
      'a poll is incomplete after a refusal while findings are doubted',
      { doubt: held, authFailed: true },
      incomplete,
      soon,
      null,
    ],
    ['nothing is doubted any more', { doubt: held }, complete, soon, 'account.recovered'],
    ['what was accepted is being told', { doubt: accepted }, { ...complete, accepted: true }, soon, null],
    ['what was accepted has been told', { doubt: accepted }, complete, soon, 'account.recovered'],
    ['a key works again', { authFailed: true }, complete, soon, 'account.recovered'],
  ])('when %s', (_title, more, outcome, now, expected) => {
    expect(healthChange(marks(more), outcome, 15_000, 0, now)).toBe(expected);
  });
});

describe('buildHealthEvent', () => {
  it('has one id per occurrence', () => {
    const known = { generation: 'g', lastCompletePollAt: 5, lastError: 'auth: no', toldAt: 4 };
    const id = (type: NonNullable<HealthChange>, more: object, at = 9) =>
      buildHealthEvent('a', type, { ...known, ...more }, at).id;
    expect(id('account.stale', {}, 10)).toBe(id('account.stale', {}, 20));
    const ids = [
      id('account.stale', {}),
      id('account.stale', { lastCompletePollAt: 6 }),
      id('account.stale', { toldAt: 8 }),
      id('account.stale', { lastCompletePollAt: 0, toldAt: 0 }),
      id('account.stale', { lastCompletePollAt: 0, toldAt: 0, generation: 'h' }),
      id('account.recovered', {}),
      id('account.recovered', { toldAt: 8 }),
      id('account.doubtful', {}),
      id('account.doubtful', { toldAt: 8 }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('tells since when and why', () => {
    const event = buildHealthEvent(
      'a',
      'account.stale',
      { generation: 'g', lastCompletePollAt: 0, lastError: '', toldAt: 0 },
      1_000,
    );
    expect(JSON.parse(event.body)).toEqual({
      id: event.id,
      type: 'account.stale',
      timestamp: '1970-01-01T00:00:01.000Z',
      data: { account: 'a', lastCompletePollAt: null, lastError: null },
    });
  });
});
