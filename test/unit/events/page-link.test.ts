import { expect, it } from 'vitest';
import { createPageLinks } from '../../../src/events/page-link.ts';
import { buildFilingEvent, buildOperationalEvent } from '../../../src/events/event.ts';

const side = { status: 'REJECTED', completedAt: null, rejectionReason: ',"data":{', removed: false };
const rejected = buildFilingEvent({
  account: 'a',
  generation: 'g',
  filingId: 'f/1 ü',
  type: 'filing.rejected',
  sequence: 1,
  before: null,
  after: side,
  changed: [],
  inferred: false,
  notBefore: 0,
  notAfter: 1,
  document: { id: 'f/1 ü', note: ',"data":{' },
});

it('says where the page of a filing, an account and a subscription is, and changes nothing else', () => {
  const link = createPageLinks('https://filings.example.com/x');
  const disabled = buildOperationalEvent('a', 'subscription.disabled', '1', 1, { subscription: 'sub_1' });
  const stale = buildOperationalEvent('a', 'account.stale', '1', 1, { lastError: 'x' });
  for (const [event, page] of [
    [rejected, 'accounts/a/filing/f%2F1%20%C3%BC'],
    [disabled, 'accounts/a/subscriptions/sub_1'],
    [stale, 'accounts/a'],
  ] as const) {
    const linked = link('a', event);
    const { url, ...data } = (JSON.parse(linked.body) as { data: { url: string } }).data;
    const before = JSON.parse(event.body) as { data: object };
    expect(url).toBe(`https://filings.example.com/x/#/${page}`);
    expect({ ...linked, body: { ...(JSON.parse(linked.body) as object), data } }).toEqual({
      ...event,
      body: before,
    });
  }
});

it('adds nothing where the address is not known', () => {
  expect(createPageLinks(null)('a', rejected)).toBe(rejected);
});
