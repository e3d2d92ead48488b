import { describe, expect, it } from 'vitest';
import { quotePolicy } from '../../../../src/sandbox/filings/pricing.ts';
import type { CalculateInput } from '../../../../src/sandbox/filings/input-schema.ts';
import type { RateConfiguration } from '../../../../src/sandbox/filings/state-table.ts';

const nothing = { mode: 'MANUAL', value: 0 } as const;
const rates: RateConfiguration = {
  surplusLinesTax: nothing,
  stampingFee: nothing,
  lgt: nothing,
  fmt: nothing,
  filingFee: nothing,
  carriersFee: true,
  carriersTaxable: true,
  policyFee: true,
  policyTaxable: true,
};
const input: CalculateInput = { filingType: 'NEW_BUSINESS', stateAbbr: 'TX', premium: 1000 };

const quote = (changed: Partial<RateConfiguration>, given: Partial<CalculateInput> = {}) =>
  quotePolicy({ ...rates, ...changed }, { ...input, ...given });
const amountOf = (result: ReturnType<typeof quote>, name: string) =>
  result.breakdown.find((line) => line.name === name)?.amount;

describe('modes', () => {
  const tenPercent = { mode: 'PERCENTAGE_WITH_FEES', value: 10 } as const;
  const tenPercentVia = { mode: 'PERCENTAGE_WITH_FEES_VIA', value: 10 } as const;
  const stampingFee = { mode: 'PERCENTAGE_WITH_FEES', value: 1 } as const;
  const fees = { carriersFee: 100, policyFee: 20, inspectionFee: 3 };

  it('PERCENTAGE_WITH_FEES is a percentage of the premium plus the fees', () => {
    expect(quote({ surplusLinesTax: tenPercent }, fees).tax).toBe(112.3);
  });

  it('PERCENTAGE_WITH_FEES_VIA also has the stamping fee in its base', () => {
    const result = quote({ surplusLinesTax: tenPercentVia, stampingFee }, fees);
    expect(amountOf(result, 'stampingFee')).toBe(11.23);
    expect(result.breakdown[0]).toMatchObject({ base: 1134.23, amount: 113.42 });
  });

  it('MANUAL is the value itself, whatever the premium', () => {
    expect(quote({ filingFee: { mode: 'MANUAL', value: 25.5 } }, { premium: 0 }).filingFee).toBe(25.5);
  });

  it('lgtValue and fmtValue are the values of MANUAL taxes only', () => {
    const given = { lgtValue: 7, fmtValue: 9 };
    expect(quote({}, given).tax).toBe(16);
    expect(quote({ fmt: tenPercent }, given).tax).toBe(107);
  });
});

describe('the four booleans', () => {
  const tax = { surplusLinesTax: { mode: 'PERCENTAGE_WITH_FEES', value: 10 } } as const;
  it.each([
    // flags, taxed base, fees charged
    [{}, 1123, 123],
    [{ carriersFee: false }, 1023, 23],
    [{ carriersTaxable: false }, 1023, 123],
    [{ carriersFee: false, carriersTaxable: false }, 1023, 23],
    [{ policyFee: false }, 1103, 103],
    [{ policyTaxable: false }, 1100, 123],
    [{ policyFee: false, policyTaxable: false }, 1100, 103],
    [{ carriersTaxable: false, policyTaxable: false }, 1000, 123],
  ])('%o: the tax is on %f, the fees are %f', (flags, base, charged) => {
    const result = quote({ ...tax, ...flags }, { carriersFee: 100, policyFee: 20, inspectionFee: 3 });
    expect(result.breakdown[0]?.base).toBe(base);
    expect(result.fees).toBe(charged);
  });
});

describe('money', () => {
  it.each([
    // premium, percentage, expected: binary floating point gets the first three wrong
    [1.005, 100, 1.01],
    [8.5, 0.1, 0.01],
    [1.15, 10, 0.12],
    [0.1, 3, 0],
    [10.04, 5, 0.5],
    [10.1, 5, 0.51],
    [999_999_999.99, 4.85, 48_500_000],
  ])('%f at %f %% is %f: cents, half away from zero', (premium, value, expected) => {
    expect(quote({ surplusLinesTax: { mode: 'PERCENTAGE_WITH_FEES', value } }, { premium }).tax).toBe(
      expected,
    );
  });

  it('the total is the sum of the rounded lines, and of its three parts', () => {
    const third = { mode: 'PERCENTAGE_WITH_FEES', value: 0.0333 } as const;
    const result = quote({ surplusLinesTax: third, lgt: third, stampingFee: third, filingFee: third });
    expect(result.breakdown.filter(({ amount }) => amount > 0).map(({ amount }) => amount)).toEqual([
      0.33, 0.33, 0.33, 0.33,
    ]);
    expect(result).toMatchObject({ tax: 0.66, fees: 0.33, filingFee: 0.33, total: 1.32 });
  });

  it('a return premium has the same amounts with the opposite sign, and no negative zero', () => {
    const configuration = {
      surplusLinesTax: { mode: 'PERCENTAGE_WITH_FEES', value: 4.85 },
      filingFee: { mode: 'MANUAL', value: 30 },
    } as const;
    const given = { premium: 101.01, policyFee: 50 };
    const additional = quote(configuration, { ...given, filingType: 'ENDORSEMENT_ADDITIONAL' });
    const returned = quote(configuration, { ...given, filingType: 'ENDORSEMENT_RETURN' });
    expect(returned.total).toBe(-additional.total);
    expect(returned).toMatchObject({ tax: -7.32, fees: -50, filingFee: -30 });
    expect(amountOf(returned, 'lgt')).toBe(0);
  });
});
