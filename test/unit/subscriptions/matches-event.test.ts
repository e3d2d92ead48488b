import { describe, expect, it } from 'vitest';
import { createEventMatcher, matchesEvent, matchesType } from '../../../src/subscriptions/matches-event.ts';

describe('an event type', () => {
  it.each([
    ['filing.*', 'filing.paid', true],
    ['filing.*', 'filing.', true],
    ['filing.*', 'filing', false],
    ['filing.*', 'filings.paid', false],
    ['filing.*', 'account.stale', false],
    ['filing.paid', 'filing.paid', true],
    ['filing.paid', 'filing.paid_twice', false],
    ['account.*', 'account.stale', true],
    ['subscription.disabled', 'subscription.disabled', true],
    ['*', 'filing.paid', true],
    ['filing.*', 'filing.noted', false],
    ['filing.noted', 'filing.noted', true],
    ['*', 'filing.noted', true],
    ['*', 'subscription.disabled', true],
  ])('%s means %s: %s', (pattern, type, expected) => {
    expect(matchesType(pattern, type)).toBe(expected);
  });
});

describe('a subscription', () => {
  const asks = { eventTypes: ['filing.*', 'account.stale'], states: null };
  const rejections = { ...asks, statuses: ['REJECTED'] };
  const everything = { ...asks, eventTypes: ['*'] };

  it.each([
    [asks, { type: 'filing.paid', state: 'TX', status: '' }, true],
    [asks, { type: 'account.stale', state: '', status: '' }, true],
    [asks, { type: 'account.recovered', state: '', status: '' }, false],
    [asks, { type: 'subscription.disabled', state: '', status: '' }, false],
    [{ ...asks, states: ['TX', 'CA'] }, { type: 'filing.paid', state: 'CA', status: '' }, true],
    [{ ...asks, states: ['TX', 'CA'] }, { type: 'filing.paid', state: 'NY', status: '' }, false],
    [{ ...asks, states: ['tx'] }, { type: 'filing.paid', state: 'TX', status: '' }, true],
    [{ ...asks, states: ['TX'] }, { type: 'filing.paid', state: 'Tx', status: '' }, true],
    [{ ...asks, states: ['tx'] }, { type: 'filing.paid', state: 'T', status: '' }, false],
    [{ ...asks, states: ['TX'] }, { type: 'filing.removed', state: '', status: '' }, true],
    [{ ...asks, states: [] }, { type: 'filing.paid', state: 'TX', status: '' }, false],
    [{ ...asks, eventTypes: [] }, { type: 'filing.paid', state: 'TX', status: '' }, false],
    [rejections, { type: 'filing.rejected', state: 'TX', status: 'REJECTED' }, true],
    [rejections, { type: 'filing.created', state: 'TX', status: 'REJECTED' }, true],
    [rejections, { type: 'filing.restored', state: '', status: 'REJECTED' }, true],
    [rejections, { type: 'filing.created', state: 'TX', status: 'UNPAID' }, false],
    [rejections, { type: 'filing.pending', state: 'TX', status: 'PENDING' }, false],
    // As older versions logged it: it may have been REJECTED.
    [rejections, { type: 'filing.created', state: 'TX', status: '' }, true],
    [rejections, { type: 'account.stale', state: '', status: '' }, true],
    [rejections, { type: 'account.recovered', state: '', status: '' }, false],
    [{ ...rejections, states: ['CA'] }, { type: 'filing.rejected', state: 'TX', status: 'REJECTED' }, false],
    [{ ...asks, statuses: ['rejected'] }, { type: 'filing.rejected', state: 'TX', status: 'REJECTED' }, true],
    [
      { ...asks, statuses: ['ON HOLD'] },
      { type: 'filing.status_changed', state: '', status: 'On hold' },
      true,
    ],
    [everything, { type: 'account.recovered', state: '', status: '' }, true],
  ])('%j gets %j: %s', (subscription, event, expected) => {
    expect(matchesEvent(subscription, event)).toBe(expected);
    // The second time from memory.
    const matches = createEventMatcher(subscription);
    matches({ ...event, status: 'PAID' });
    expect([matches(event), matches(event)]).toEqual([expected, expected]);
  });
});
