import { describe, expect, it } from 'vitest';
import { effectiveDate, toDetails } from '../../../../src/filings/detection/filing-details.ts';
import { detailsOf } from '../../../support/details-of.ts';
import { parseExactly } from '../../../../src/json/parse-exactly.ts';

const nothing = {
  policyNumber: null,
  insuredsName: null,
  stateAbbr: null,
  filingType: null,
  premium: null,
  carriersName: null,
  createdAt: null,
  policyEffectiveDate: null,
  endorsementEffectiveDate: null,
  endorsementNumber: null,
};
const endorsement = {
  carriersName: 'Harbor',
  createdAt: '2026-01-02T03:04:05.000Z',
  policyEffectiveDate: '2026-01-01T00:00:00.000Z',
  endorsementEffectiveDate: '2026-06-01',
  endorsementNumber: 'E-2',
};

describe('toDetails', () => {
  it.each([
    ['nothing', {}, {}],
    [
      'texts',
      { policyNumber: 'P1', insuredsName: 'Acme', filingType: 'NEW_BUSINESS' },
      { policyNumber: 'P1', insuredsName: 'Acme', filingType: 'NEW_BUSINESS' },
    ],
    ['the carrier, the dates and the endorsement', endorsement, endorsement],
    ['wrong types', { policyNumber: 7, insuredsName: null, filingType: ['x'] }, {}],
    ['a long text', { insuredsName: 'x'.repeat(500) }, { insuredsName: `${'x'.repeat(199)}…` }],
    ['a state', { filingState: { stateAbbr: 'TX' } }, { stateAbbr: 'TX' }],
    ['no state', { filingState: null }, {}],
    ['a strange state', { filingState: { stateAbbr: 5 } }, {}],
    ['a number', { premium: 12 }, { premium: 12 }],
    ['a number as text', { premium: '12' }, {}],
    ['a boolean', { premium: true }, {}],
    ['an object for a number', { premium: {} }, {}],
    ['a list for a number', { premium: [] }, {}],
  ])('takes %s', (_title, document, expected) => {
    expect(toDetails(document)).toEqual({ ...nothing, ...expected });
  });

  it('takes numbers that the exact document keeps as they were written', () => {
    const document = parseExactly('{"premium":1200.10}') as Record<string, unknown>;
    expect(toDetails(document)?.premium).toBe(1200.1);
  });

  it('of no document are none', () => {
    expect(toDetails(null)).toBeNull();
  });
});

describe('effectiveDate', () => {
  const policy = { policyEffectiveDate: '2026-01-05T00:00:00.000Z', filingState: { stateAbbr: 'tx ' } };
  const own = { ...policy, filingType: 'ENDORSEMENT_RETURN', endorsementEffectiveDate: '2026-03-01' };
  const [january, march] = [Date.UTC(2026, 0, 5), Date.UTC(2026, 2, 1)];

  it.each([
    ['the policy', policy, { stateAbbr: 'TX', at: january }],
    ['an endorsement', own, { stateAbbr: 'TX', at: march }],
    [
      'an endorsement without a date of its own',
      { ...own, endorsementEffectiveDate: null },
      { stateAbbr: 'TX', at: january },
    ],
    [
      'new business, whatever the endorsement says',
      { ...own, filingType: 'NEW_BUSINESS' },
      { stateAbbr: 'TX', at: january },
    ],
    [
      'a state that is none',
      { ...policy, filingState: { stateAbbr: 'T"X' } },
      { stateAbbr: '', at: january },
    ],
    ['no date', {}, null],
    ['a text that is no date', { policyEffectiveDate: 'soon' }, null],
    ['a date that stands for none', { policyEffectiveDate: '0001-01-01T00:00:00Z' }, null],
  ])('is that of %s', (_title, document, expected) => {
    expect(effectiveDate(detailsOf(document))).toEqual(expected);
  });
});
