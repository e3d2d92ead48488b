import { expect, test } from 'vitest';
import { notBefore } from '../../../src/subscriptions/not-before.ts';
import { neverCalled, type Block, type DeliveryState } from '../../../src/subscriptions/subscription.ts';

const now = 1_000_000;
const block: Block = { reason: 'no key', since: 1, times: 1, nextAt: now + 7 };
const throttled = { throttledUntil: now + 500 };

test.each<[Partial<DeliveryState>, number, ReturnType<typeof notBefore>, boolean?]>([
  [{}, 3, null],
  [{ enabled: false, disabledReason: 'by request' }, 3, { at: null, reason: 'disabled' }],
  [{ enabled: false, disabledReason: 'expired' }, 0, { at: null, reason: 'expired' }],
  [{ blocked: block, pausedUntil: now + 9 }, 3, { at: now + 7, reason: 'blocked' }],
  [{ blocked: { ...block, unverified: true } }, 0, { at: now + 7, reason: 'unverified' }],
  [{ pausedUntil: now + 9, ...throttled }, 3, { at: now + 9, reason: 'paused' }],
  [{ pausedUntil: now - 1 }, 3, null],
  [throttled, 3, { at: now + 500, reason: 'rate' }],
  [throttled, 0, null],
  [{ throttledUntil: now - 900 }, 3, { at: now - 900, reason: 'rate' }],
  [{ throttledUntil: now - 1_000 }, 3, null],
  // Only a wrong clock explains it.
  [{ throttledUntil: 1e12 }, 3, null],
  [{ pausedUntil: now + 9, ...throttled }, 3, { at: null, reason: 'proxy' }, true],
  [{ pausedUntil: now + 9 }, 0, { at: now + 9, reason: 'paused' }, true],
  [{ obstacle: 'no token' }, 3, null, true],
  [{ blocked: block }, 3, { at: now + 7, reason: 'blocked' }, true],
  [{ enabled: false }, 3, { at: null, reason: 'disabled' }, true],
])('nothing is sent to %j with %i events behind: %j', (state, lag, expected, isHeld = false) => {
  expect(notBefore({ ...neverCalled, ...state }, lag, isHeld, now)).toEqual(expected);
});

test.each([
  [now + 9, now + 9],
  [now - 9, now],
])('a disabled endpoint that is asked again at %i is said to be so at %i', (pausedUntil, at) => {
  const state = { ...neverCalled, enabled: false, disabledReason: 'it failed', pausedUntil };
  expect(notBefore(state, 3, false, now, true)).toEqual({ at, reason: 'disabled' });
});
