import { describe, expect, it } from 'vitest';
import { parseDeliveryState } from '../../../src/subscriptions/delivery-state.ts';
import {
  rotateSecrets,
  subscriptionLag,
  subscriptionState,
  validSecrets,
  type SigningSecret,
} from '../../../src/subscriptions/subscription.ts';

describe('a delivery state', () => {
  it('that was never written is that of a subscription never called', () => {
    expect(parseDeliveryState({})).toMatchObject({
      epoch: '',
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

describe('signing secrets', () => {
  const current = [{ text: 'one', expiresAt: null }];

  it('overlap for the grace, the newest first', () => {
    const rotated = rotateSecrets(current, 'two', 100, 1_000);
    expect(rotated).toEqual([
      { text: 'two', expiresAt: null },
      { text: 'one', expiresAt: 1_100 },
    ]);
    expect(validSecrets(rotated, 1_099)).toEqual(['two', 'one']);
    expect(validSecrets(rotated, 1_100)).toEqual(['two']);
  });

  it('end at once without grace', () => {
    expect(rotateSecrets(current, 'two', 0, 1_000)).toEqual([{ text: 'two', expiresAt: null }]);
  });

  it('rotated again do not live longer, and expired ones go', () => {
    const twice = rotateSecrets(rotateSecrets(current, 'two', 100, 1_000), 'three', 500, 1_050);
    expect(twice).toEqual([
      { text: 'three', expiresAt: null },
      { text: 'two', expiresAt: 1_550 },
      { text: 'one', expiresAt: 1_100 },
    ]);
    expect(rotateSecrets(twice, 'four', 500, 1_200).map(({ text }) => text)).toEqual([
      'four',
      'three',
      'two',
    ]);
  });

  it('are never more than five: the oldest ends before its grace', () => {
    const names = ['two', 'three', 'four', 'five', 'six', 'seven'];
    const rotated = names.reduce<readonly SigningSecret[]>(
      (secrets, name, i) => rotateSecrets(secrets, name, 86_400_000, i),
      current,
    );
    expect(validSecrets(rotated, 10)).toEqual(['seven', 'six', 'five', 'four', 'three']);
  });

  it('rotated back to a former one list it once', () => {
    const back = rotateSecrets(rotateSecrets(current, 'two', 100, 1_000), 'one', 100, 1_010);
    expect(back).toEqual([
      { text: 'one', expiresAt: null },
      { text: 'two', expiresAt: 1_110 },
    ]);
  });
});
