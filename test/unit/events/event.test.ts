import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildFilingEvent,
  buildOperationalEvent,
  stateAbbreviation,
  type FilingChange,
} from '../../../src/events/event.ts';
import { variables } from '../../../src/config/variables.ts';
import { parseExactly } from '../../../src/json/parse-exactly.ts';

const side = { status: 'PENDING', completedAt: null, rejectionReason: null, removed: false };
const change: FilingChange = {
  account: 'default',
  generation: 'g',
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
  it('has the fields of docs/webhooks.md', () => {
    const event = buildFilingEvent(change);
    expect(JSON.parse(event.body)).toEqual({
      id: event.id,
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

  // "ä" is two bytes, a lone surrogate six, and 1.10 is four although a double would be written with three.
  const text = String.raw`{"id":"f","premium":1.10,"filingState":{"stateAbbr":"TX"},"insuredsName":"ä\ud800"}`;
  const document = parseExactly(text) as Record<string, unknown>;
  const bytes = Buffer.byteLength(text);

  it.each([
    ['as large as allowed', bytes, { filing: JSON.parse(text) as unknown }, undefined],
    ['a byte larger', bytes - 1, { omitted: 'too_large' }, bytes],
    ['many times larger', 1, { omitted: 'too_large' }, bytes],
  ])('with a filing that is %s', (_title, bytesMax, expected, omittedBytes) => {
    const full = buildFilingEvent({ ...change, document });
    const event = buildFilingEvent({ ...change, document }, bytesMax);
    const { filing: _, ...rest } = (JSON.parse(full.body) as { data: Record<string, unknown> }).data;
    expect((JSON.parse(event.body) as { data: unknown }).data).toEqual({ ...rest, ...expected });
    expect(event).toMatchObject({ id: full.id, state: 'TX' });
    expect(event.omittedBytes).toBe(omittedBytes);
  });

  it('of a filing that was removed has no filing, and nothing was left out', () => {
    const { data } = JSON.parse(buildFilingEvent({ ...change, document: null }, 1).body) as { data: object };
    expect(data).toMatchObject({ filing: null });
    expect(data).not.toHaveProperty('omitted');
  });

  // The longest texts that filing-schema.ts lets pass, each character as long as JSON can write it.
  it.each([true, false])(
    'stays below a megabyte by default, whatever it holds (filing omitted: %s)',
    (isOmitted) => {
      const most = Number(variables.FILING_MAX_BYTES.default);
      const long = (length: number) => '\u0001'.repeat(length);
      const rejectionReason = long(isOmitted ? 65_536 : 20_000);
      const large = { rejectionReason, notes: long(most / 6 - 20_100) };
      const after = { ...side, status: 'S'.repeat(64), completedAt: long(256), rejectionReason };
      const worst = { ...change, filingId: long(256), before: after, after, document: large };
      const { body, omittedBytes } = buildFilingEvent(worst, most);
      expect(omittedBytes !== undefined).toBe(isOmitted);
      expect(Buffer.byteLength(body)).toBeLessThan(1_000_000);
    },
  );

  describe('with texts that are as large as a filing', () => {
    const reason = (length: number) => '\u0001'.repeat(length);
    const withReason = (rejectionReason: string, most = Infinity) => {
      const after = { ...change.after, rejectionReason };
      const event = buildFilingEvent({ ...change, after, document: { id: 'f_123', rejectionReason } }, most);
      return { event, data: (JSON.parse(event.body) as { data: Record<string, unknown> }).data };
    };

    it('comes with their beginnings and without the filing, under an id of its own, and says so', () => {
      const { event, data } = withReason(reason(30_000));
      expect(data).toMatchObject({ status: 'REJECTED', sequence: 4, omitted: 'too_large' });
      expect(data).not.toHaveProperty('filing');
      expect(data['rejectionReason']).toBe(`${reason(1_000)}…`);
      expect(Buffer.byteLength(event.body)).toBeLessThan(10_000);
      expect(event.omittedBytes).toBeGreaterThan(30_000);
      // Reasons that differ behind the cut are two changes.
      expect(withReason(`${reason(30_000)}!`).event.id).not.toBe(event.id);
    });

    it('cuts no character in two', () => {
      const { data } = withReason(`${'a'.repeat(999)}${'😀'.repeat(60_000)}`);
      expect(data['rejectionReason']).toBe(`${'a'.repeat(999)}…`);
    });

    it('keeps the longest reason in plain letters whole', () => {
      const { data } = withReason('a'.repeat(65_536));
      expect(data).toMatchObject({ rejectionReason: 'a'.repeat(65_536) });
      expect(data).not.toHaveProperty('omitted');
    });

    it('has at most 128 KiB besides its filing, whatever the texts are', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(30_000), (unit, times) => {
          const { event } = withReason(unit.repeat(times), 1_024);
          expect(Buffer.byteLength(event.body)).toBeLessThan(131_072 + 1_024 + 200);
        }),
        { numRuns: 30 },
      );
    });
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
    [{ filingState: { stateAbbr: 'X'.repeat(201) } }, 'X'.repeat(200)],
    [{ filingState: { stateAbbr: 7 } }, ''],
    [{ filingState: null }, ''],
    [{ filingState: 'TX' }, ''],
    [{}, ''],
    [null, ''],
  ])('of %j is %j', (document, expected) => {
    expect(stateAbbreviation(document)).toBe(expected);
  });
});
