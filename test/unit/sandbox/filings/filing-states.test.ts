import { describe, expect, it } from 'vitest';
import { filingStates } from '../../../../src/sandbox/filings/filing-states.ts';
import { rateNames } from '../../../../src/sandbox/filings/state-table.ts';

const configurations = filingStates.flatMap(({ nbStateRates, edStateRates }) => [nbStateRates, edStateRates]);

describe('the states of the sandbox', () => {
  it('use every mode, and both values of every boolean', () => {
    const modes = configurations.flatMap((rates) => rateNames.map((name) => rates[name].mode));
    expect(new Set(modes)).toEqual(new Set(['PERCENTAGE_WITH_FEES', 'PERCENTAGE_WITH_FEES_VIA', 'MANUAL']));
    for (const flag of ['carriersFee', 'carriersTaxable', 'policyFee', 'policyTaxable'] as const) {
      expect(new Set(configurations.map((rates) => rates[flag]))).toEqual(new Set([true, false]));
    }
  });

  it.each(['carriers', 'policy'] as const)('charge and tax the %s fee in every combination', (fee) => {
    const combinations = configurations.map((rates) => [rates[`${fee}Fee`], rates[`${fee}Taxable`]].join());
    expect(new Set(combinations).size).toBe(4);
  });

  it('never let the stamping fee be a percentage of itself', () => {
    for (const { stampingFee } of configurations)
      expect(stampingFee.mode).not.toBe('PERCENTAGE_WITH_FEES_VIA');
  });

  it('have different rate configurations', () => {
    const distinct = new Set(filingStates.map(({ nbStateRates }) => JSON.stringify(nbStateRates)));
    expect(distinct.size).toBe(filingStates.length);
  });
});
