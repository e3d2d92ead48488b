import { describe, expect, it } from 'vitest';
import {
  buildFilingEvent,
  buildOperationalEvent,
  stateAbbreviation,
  type FilingChange,
} from '../../../src/events/event.ts';
import { parseExactly } from '../../../src/json/parse-exactly.ts';

const side = { status: 'PENDING', completedAt: null, rejectionReason: null, removed: false };
const change: FilingChange = {
  account: 'default',
  filingId: 'f_123',
  type: 'filing.rejected',
  sequence: 4,
  before: side,
  after: { ...side, status: 'REJECTED', rejectionReason: 'Affidavit is not signed' },
  changed: ['status', 'rejectionReason'],
  inferred: false,
  notBefore: Date.parse('2026-11-21T09:59:48.017Z'),
  notAfter: Date.parse('2026-11-21T10:00:03.120Z'),
  document: { id: 'f_123', filingState: { stateAbbr: 'TX' } },
};

describe('buildFilingEvent', () => {
  it('is the body of the contract', () => {
    const event = buildFilingEvent(change);
    expect(JSON.parse(event.body)).toEqual({
      type: 'filing.rejected',
      timestamp: '2026-11-21T10:00:03.120Z',
      data: {
        account: 'default',
        filingId: 'f_123',
        status: 'REJECTED',
        previousStatus: 'PENDING',
        rejectionReason: 'Affidavit is not signed',
        completedAt: null,
        sequence: 4,
        changed: ['status', 'rejectionReason'],
        observed: { notBefore: '2026-11-21T09:59:48.017Z', notAfter: '2026-11-21T10:00:03.120Z' },
        inferred: false,
        filing: change.document,
      },
    });
    expect(event).toMatchObject({ type: 'filing.rejected', filingId: 'f_123', state: 'TX' });
    expect(event.id).toMatch(/^evt_[0-9a-f]{32}$/);
  });

  it('keeps the document as it was written, numbers and lone surrogates included', () => {
    const text = String.raw`{"id":"f","premium":1200.10,"insuredsName":"\ud800<img onerror>"}`;
    const { body } = buildFilingEvent({ ...change, document: parseExactly(text) as Record<string, unknown> });
    expect(body).toContain(`"filing":${text}`);
  });

  it('has the same id for the same change, however and whenever it was observed', () => {
    const again = { ...change, notBefore: 1, notAfter: 2, document: null, inferred: true, changed: [] };
    expect(buildFilingEvent(again).id).toBe(buildFilingEvent(change).id);
  });

  it.each<[string, Partial<FilingChange>]>([
    ['account', { account: 'other' }],
    ['filing', { filingId: 'f_124' }],
    ['sequence', { sequence: 5 }],
    ['status before', { before: { ...side, status: 'PAID' } }],
    ['completedAt before', { before: { ...side, completedAt: 'x' } }],
    ['reason before', { before: { ...side, rejectionReason: 'x' } }],
    ['removal before', { before: { ...side, removed: true } }],
    ['nothing before', { before: null }],
    ['status after', { after: { ...change.after, status: 'PAID' } }],
    ['completedAt after', { after: { ...change.after, completedAt: 'x' } }],
    ['reason after', { after: { ...change.after, rejectionReason: 'x' } }],
    ['removal after', { after: { ...change.after, removed: true } }],
    ['names that run into each other', { account: 'defaultf', filingId: '_123' }],
  ])('has another id for another %s', (_title, more) => {
    expect(buildFilingEvent({ ...change, ...more }).id).not.toBe(buildFilingEvent(change).id);
  });
});

describe('buildOperationalEvent', () => {
  it('has one id per occasion', () => {
    const id = (type: string, occasion: string, at: number) =>
      buildOperationalEvent('a', type, occasion, at, {}).id;
    expect(id('account.stale', '1', 5)).toBe(id('account.stale', '1', 6));
    expect(
      new Set([id('account.stale', '1', 5), id('account.stale', '2', 5), id('account.recovered', '1', 5)])
        .size,
    ).toBe(3);
  });
});

describe('stateAbbreviation', () => {
  it.each([
    [{ filingState: { stateAbbr: 'TX' } }, 'TX'],
    [{ filingState: { stateAbbr: 7 } }, ''],
    [{ filingState: null }, ''],
    [{ filingState: 'TX' }, ''],
    [{}, ''],
    [null, ''],
  ])('of %j is %j', (document, expected) => {
    expect(stateAbbreviation(document)).toBe(expected);
  });
});
