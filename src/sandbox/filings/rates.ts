/** How a fee is computed (docs/sandbox.md#rates-and-quotes). */
export type RateMode = 'PERCENTAGE_WITH_FEES' | 'PERCENTAGE_WITH_FEES_VIA' | 'MANUAL';

/** One fee: `value` is a percentage for the two percentage modes and an amount in dollars for `MANUAL`. */
export interface Rate {
  readonly mode: RateMode;
  readonly value: number;
}

/** Names of the fees, chosen by the sandbox. */
export const rateNames = ['surplusLinesTax', 'stampingFee', 'lgt', 'fmt', 'filingFee'] as const;

export type RateName = (typeof rateNames)[number];

/**
 * The raw rate configuration of one pair of a state. `stampingFee` is the stamping/VIA fee, `lgt` the local
 * government tax, `fmt` the fire marshal tax. The booleans say whether the partner's flat fees apply and
 * whether they are taxable.
 */
export interface RateConfiguration extends Readonly<Record<RateName, Rate>> {
  readonly carriersFee: boolean;
  readonly carriersTaxable: boolean;
  readonly policyFee: boolean;
  readonly policyTaxable: boolean;
}
