import { describe, expect, it } from 'vitest';
import { parseDeliveryState } from '../../../src/subscriptions/delivery-state.ts';
import { subscriptionLag, subscriptionState } from '../../../src/subscriptions/subscription.ts';

describe('a delivery state', () => {
  it('that was never written is that of a subscription never called', () => {
    expect(parseDeliveryState({})).toMatchObject({
      cursor: 0,
      done: '',
      enabled: true,
      failedFilings: [],
    });
  });

  it('is read from the texts of its hash', () => {
    const fields = {
      cursor: '7',
      done: '9-12',
      enabled: '0',
      failedFilings: '["a"]',
      release: '1',
      replaying: '2',
    };
    expect(parseDeliveryState(fields)).toMatchObject({
      cursor: 7,
      done: '9-12',
      enabled: false,
      failedFilings: ['a'],
      release: true,
      replaying: 2,
    });
  });

  it.each([
    [{}, 'active'],
    [{ failures: '1' }, 'failing'],
    [{ failures: '1', enabled: '0' }, 'disabled'],
    [{ blocked: '{"reason":"r","since":1,"times":1,"nextAt":2}' }, 'failing'],
    [{ blocked: '{"reason":"r","since":1,"times":1,"nextAt":2}', enabled: '0' }, 'disabled'],
  ])('%j is %s', (fields, word) => {
    expect(subscriptionState(parseDeliveryState(fields))).toBe(word);
  });

  it.each([
    [{}, 0, 0],
    [{ cursor: '5' }, 9, 4],
    [{ cursor: '5', done: '7-8' }, 9, 2],
    [{ cursor: '5', done: '7,9' }, 9, 2],
    [{ cursor: '9', parked: '3' }, 9, 3],
    [{ cursor: '5', done: '7', parked: '1' }, 9, 4],
    // A head that was read before the cursor moved on.
    [{ cursor: '12' }, 9, 0],
  ])('%j lags behind %i by %i', (fields, head, lag) => {
    expect(subscriptionLag(parseDeliveryState(fields), head)).toBe(lag);
  });
});
