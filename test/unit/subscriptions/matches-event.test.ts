import { describe, expect, it } from 'vitest';
import { matchesEvent, matchesType } from '../../../src/subscriptions/matches-event.ts';

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
    ['*', 'filing.paid', false],
  ])('%s means %s: %s', (pattern, type, expected) => {
    expect(matchesType(pattern, type)).toBe(expected);
  });
});

describe('a subscription', () => {
  const asks = { eventTypes: ['filing.*', 'account.stale'], states: null };

  it.each([
    [asks, { type: 'filing.paid', state: 'TX' }, true],
    [asks, { type: 'account.stale', state: '' }, true],
    [asks, { type: 'account.recovered', state: '' }, false],
    [asks, { type: 'subscription.disabled', state: '' }, false],
    [{ ...asks, states: ['TX', 'CA'] }, { type: 'filing.paid', state: 'CA' }, true],
    [{ ...asks, states: ['TX', 'CA'] }, { type: 'filing.paid', state: 'NY' }, false],
    [{ ...asks, states: ['tx'] }, { type: 'filing.paid', state: 'TX' }, true],
    [{ ...asks, states: ['TX'] }, { type: 'filing.paid', state: 'Tx' }, true],
    [{ ...asks, states: ['tx'] }, { type: 'filing.paid', state: 'T' }, false],
    [{ ...asks, states: ['TX'] }, { type: 'filing.removed', state: '' }, true],
    [{ ...asks, states: [] }, { type: 'filing.paid', state: 'TX' }, false],
    [{ ...asks, eventTypes: [] }, { type: 'filing.paid', state: 'TX' }, false],
  ])('%j gets %j: %s', (subscription, event, expected) => {
    expect(matchesEvent(subscription, event)).toBe(expected);
  });
});
