import { describe, expect, it } from 'vitest';
import { lookAlikeKey } from '../../../../src/filings/detection/look-alike.ts';

const filing = {
  policyNumber: 'SL-2026-0042',
  filingType: 'NEW_BUSINESS',
  filingState: { stateAbbr: 'TX' },
  endorsementNumber: null,
};
const key = lookAlikeKey(filing);

describe('what a filing looks like', () => {
  it.each([
    ['case', { policyNumber: 'sl-2026-0042' }],
    ['spaces', { policyNumber: ' SL 2026\u00a00042\n' }],
    ['dashes of any length', { policyNumber: 'SL–2026—00\u221242' }],
    ['full-width letters', { policyNumber: 'ＳＬ２０２６-0042' }],
    ['all that is corrected', { insuredsName: 'Acme', premium: 1, policyEffectiveDate: '2026-02-01' }],
    ['an endorsement number that is not returned', { endorsementNumber: undefined }],
  ])('does not depend on %s', (_, fields) => {
    expect(lookAlikeKey({ ...filing, ...fields })).toBe(key);
  });

  it.each([
    ['a digit of the policy number', { policyNumber: 'SL-2026-0043' }],
    ['a digit more', { policyNumber: 'SL-2026-00420' }],
    ['another sign between its parts', { policyNumber: 'SL/2026/0042' }],
    ['the state', { filingState: { stateAbbr: 'TN' } }],
    ['the type', { filingType: 'NEW_BUSINESS_RENEWAL' }],
    ['an endorsement number', { endorsementNumber: '1' }],
    ['an endorsement number that is no text', { endorsementNumber: 1 }],
  ])('differs by %s', (_, fields) => {
    const other = lookAlikeKey({ ...filing, ...fields });
    expect(other).toMatch(/^[\w-]{22}$/);
    expect(other).not.toBe(key);
  });

  it('tells endorsements apart by their numbers, in any case', () => {
    const of = (endorsementNumber: unknown) => lookAlikeKey({ ...filing, endorsementNumber });
    expect(of(' e-1 ')).toBe(of('E-1'));
    expect(of('E-1')).not.toBe(of('E-11'));
    expect(of('1-1')).not.toBe(of('11'));
    expect(of(1)).not.toBe(of(2));
  });

  it.each([
    ['document', null],
    ['policy number', { ...filing, policyNumber: undefined }],
    ['policy number that is text', { ...filing, policyNumber: 2026 }],
    ['policy number with more than separators', { ...filing, policyNumber: ' - ' }],
    ['policy number that is no placeholder', { ...filing, policyNumber: 'TBD' }],
    ['policy number with a digit but 0', { ...filing, policyNumber: '000-000' }],
    ['state', { ...filing, filingState: null }],
    ['type', { ...filing, filingType: '' }],
  ])('is nothing without a %s', (_, document) => {
    expect(lookAlikeKey(document)).toBeNull();
  });
});
