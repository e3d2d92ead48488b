import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Rate } from '../../../../src/delivery/schedule/rate.ts';
import { mostPerSecond } from '../../../support/receivers/timed-receiver.ts';

/** Starts as many attempts as the rate allows, looking after each of these waits (ms). */
function startsOf(perSecond: number, waits: readonly number[]): number[] {
  const rate = new Rate(0);
  rate.follow(perSecond);
  const starts: number[] = [];
  let now = 1_000_000;
  for (const wait of waits) {
    now += Math.max(wait, 0);
    if (rate.inMs(now) > 0) continue;
    rate.started(now);
    starts.push(now);
  }
  return starts;
}

it('no second has more attempts than the rate, whenever they are looked for', () => {
  const waits = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), waits, (perSecond, each) => {
      expect(mostPerSecond(startsOf(perSecond, each))).toBeLessThanOrEqual(perSecond);
    }),
  );
});

it('makes nothing wait without a rate, and stores no time', () => {
  const rate = new Rate(Number.MAX_SAFE_INTEGER);
  rate.follow(null);
  rate.started(5);
  expect([rate.inMs(5), rate.nextAt()]).toEqual([0, 0]);
});

it('goes on at the time where another drain has left off, and no further away than one attempt takes', () => {
  const rate = new Rate(1_500);
  rate.follow(1);
  expect([rate.inMs(1_000), rate.inMs(1_500)]).toEqual([500, 0]);
  const ahead = new Rate(3_600_000);
  ahead.follow(10);
  expect(ahead.inMs(1_000)).toBe(107);
});
