import { describe, expect, it } from 'vitest';
import { isIndexed, isKnownStatus, isSettled, isUnsettled } from '../../../src/partner/filing-statuses.ts';

describe('the statuses of filings', () => {
  const statuses = ['UNPAID', 'PAID', 'PENDING', 'ON_HOLD', '__proto__', 'COMPLETED', 'REJECTED'];

  it('knows what is settled, what is expected to move on, and that unknown statuses are neither', () => {
    expect(statuses.filter(isUnsettled)).toEqual(['UNPAID', 'PAID', 'PENDING']);
    expect(statuses.filter(isSettled)).toEqual(['COMPLETED', 'REJECTED']);
    expect(statuses.filter((status) => !isKnownStatus(status))).toEqual(['ON_HOLD', '__proto__']);
  });

  it('indexes all but COMPLETED', () => {
    expect(statuses.filter((status) => !isIndexed(status))).toEqual(['COMPLETED']);
  });
});
