/** How a fee is computed (docs/sandbox.md#rates-and-quotes). */
export type RateMode = 'PERCENTAGE_WITH_FEES' | 'PERCENTAGE_WITH_FEES_VIA' | 'MANUAL';

/** One fee: `value` is a percentage for the two percentage modes and an amount in dollars for `MANUAL`. */
export interface Rate {
  readonly mode: RateMode;
  readonly value: number;
}

/** Names of the fees, chosen by the sandbox. */
export const rateNames = ['surplusLinesTax', 'stampingFee', 'lgt', 'fmt', 'filingFee'] as const;

/**
 * The raw rate configuration of one pair of a state. `stampingFee` is the stamping/VIA fee, `lgt` the local
 * government tax, `fmt` the fire marshal tax. The booleans say whether the partner's flat fees apply and
 * whether they are taxable.
 */
export interface RateConfiguration extends Readonly<Record<(typeof rateNames)[number], Rate>>, Flags {}

interface Flags {
  readonly carriersFee: boolean;
  readonly carriersTaxable: boolean;
  readonly policyFee: boolean;
  readonly policyTaxable: boolean;
}

/** One pair of a state: required documents, notes in HTML, and rates. */
export interface PairRow {
  readonly documents: readonly string[];
  readonly notes: readonly string[];
  readonly rates: RateConfiguration;
}

/** One state of the sandbox. */
export interface StateRow {
  readonly name: string;
  readonly stateAbbr: string;
  readonly nb: PairRow;
  readonly ed: PairRow;
}

const allTaxable = { carriersFee: true, carriersTaxable: true, policyFee: true, policyTaxable: true };
const noneTaxable = { carriersFee: true, carriersTaxable: false, policyFee: true, policyTaxable: false };
const noPolicyFee = { carriersFee: true, carriersTaxable: true, policyFee: false, policyTaxable: false };
const noCarriersFee = { carriersFee: false, carriersTaxable: false, policyFee: true, policyTaxable: true };
const taxableUncharged = { carriersFee: false, carriersTaxable: true, policyFee: false, policyTaxable: true };

const percent = (value: number): Rate => ({ mode: 'PERCENTAGE_WITH_FEES', value });
const percentVia = (value: number): Rate => ({ mode: 'PERCENTAGE_WITH_FEES_VIA', value });
const manual = (value: number): Rate => ({ mode: 'MANUAL', value });

/**
 * Invented rates in the usual order of magnitude: together they use every mode, and for each flat fee every
 * combination of charged and taxable.
 */
export const stateTable: readonly StateRow[] = [
  {
    name: 'California',
    stateAbbr: 'CA',
    nb: {
      documents: ['Declarations page', 'SL-1 confidential report', 'D-1 disclosure'],
      notes: ['File within <em>60 days</em> of the effective date.'],
      rates: rates(percent(3), percent(0.18), manual(25), allTaxable),
    },
    ed: {
      documents: ['Endorsement'],
      notes: ['Name the policy that is endorsed.'],
      rates: rates(percent(3), percent(0.18), manual(10), allTaxable),
    },
  },
  {
    name: 'Florida',
    stateAbbr: 'FL',
    nb: {
      documents: ['Declarations page', 'Diligent effort form'],
      notes: ['Report quarterly &amp; pay by ACH.'],
      rates: rates(percentVia(4.94), percent(0.06), manual(35), allTaxable),
    },
    ed: {
      documents: ['Endorsement', 'Signed request of the insured'],
      notes: [],
      rates: rates(percentVia(4.94), percent(0.06), manual(15), noPolicyFee),
    },
  },
  {
    name: 'Kentucky',
    stateAbbr: 'KY',
    nb: {
      documents: ['Declarations page', 'Affidavit'],
      notes: ['Give the local government tax of the municipality as <code>lgtValue</code>.'],
      rates: rates(percent(3), percent(1.8), manual(40), noCarriersFee),
    },
    ed: {
      documents: ['Endorsement'],
      notes: [],
      rates: rates(percent(3), percent(1.8), manual(0), taxableUncharged),
    },
  },
  {
    name: 'New York',
    stateAbbr: 'NY',
    nb: {
      documents: [
        'Declarations page',
        'Part A affidavit',
        'Part C affidavit',
        'Notice of excess line placement',
      ],
      notes: ['All affidavits must be <strong>signed and dated</strong>.'],
      rates: rates(percent(3.6), percent(0.15), manual(50), noneTaxable),
    },
    ed: {
      documents: ['Endorsement', 'Part A affidavit'],
      notes: [],
      rates: rates(percent(3.6), percent(0.15), manual(20), noneTaxable),
    },
  },
  {
    name: 'Oregon',
    stateAbbr: 'OR',
    nb: {
      documents: ['Declarations page', 'Diligent search statement'],
      notes: ['The fire marshal tax applies to property risks; give <code>fmtValue</code> where it differs.'],
      rates: rates(percentVia(2), manual(10), percent(0.1), noPolicyFee, percentVia(0.3)),
    },
    ed: {
      documents: ['Endorsement'],
      notes: [],
      rates: rates(percent(2), manual(10), manual(0), noneTaxable),
    },
  },
  {
    name: 'Texas',
    stateAbbr: 'TX',
    nb: {
      documents: ['Declarations page'],
      notes: ['File within 60 days of the later of issue and effective date.'],
      rates: rates(percent(4.85), percent(0.04), manual(30), allTaxable),
    },
    ed: {
      documents: ['Endorsement'],
      notes: [],
      rates: rates(percent(4.85), percent(0.04), manual(30), allTaxable),
    },
  },
];

function rates(
  surplusLinesTax: Rate,
  stampingFee: Rate,
  filingFee: Rate,
  flags: Flags,
  fmt = manual(0),
): RateConfiguration {
  return { surplusLinesTax, stampingFee, lgt: manual(0), fmt, filingFee, ...flags };
}
