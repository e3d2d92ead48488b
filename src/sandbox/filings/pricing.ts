import { Big } from 'big.js';
import { moneyDecimals } from '../decisions.ts';
import type { CalculateInput } from './input-schema.ts';
import type { Rate, RateConfiguration, RateMode } from './state-table.ts';

/**
 * One amount of a quote; a flat fee has no mode, no value and no base. `base` is the amount that a percentage
 * applies to.
 */
interface QuoteLine {
  readonly name: string;
  readonly kind: 'tax' | 'fee' | 'filing-fee';
  readonly mode: RateMode | null;
  readonly value: number | null;
  readonly base: number | null;
  readonly amount: number;
}

/**
 * The body of `POST /partner/calculate`: `total` = `filingFee` + `tax` + `fees` = the sum of the breakdown,
 * premium not included.
 */
export type Quote = ReturnType<typeof toQuote>;

type Bases = Readonly<Record<RateMode, Big | null>>;

/**
 * Prices a policy in exact decimals (docs/sandbox.md#rates-and-quotes). `PERCENTAGE_WITH_FEES` is a
 * percentage of the premium plus the taxable flat fees; `PERCENTAGE_WITH_FEES_VIA` adds the stamping fee to
 * that base; `MANUAL` is the amount itself. Each line is rounded to cents, half away from zero, and sums are
 * sums of rounded lines. A return premium has the same amounts with the opposite sign.
 */
export function quotePolicy(rates: RateConfiguration, input: CalculateInput): Quote {
  const flatFees = flatFeeLines(rates, input);
  const withFees = new Big(input.premium).plus(taxableFees(rates, input));
  const unstamped = { PERCENTAGE_WITH_FEES: withFees, PERCENTAGE_WITH_FEES_VIA: withFees, MANUAL: null };
  const stamping = line('stampingFee', 'fee', rates.stampingFee, unstamped);
  const bases = { ...unstamped, PERCENTAGE_WITH_FEES_VIA: withFees.plus(stamping.amount) };
  const lines = [
    line('surplusLinesTax', 'tax', rates.surplusLinesTax, bases),
    line('lgt', 'tax', withManualValue(rates.lgt, input.lgtValue), bases),
    line('fmt', 'tax', withManualValue(rates.fmt, input.fmtValue), bases),
    stamping,
    ...flatFees,
    line('filingFee', 'filing-fee', rates.filingFee, bases),
  ];
  return toQuote(input, input.filingType === 'ENDORSEMENT_RETURN' ? lines.map(negated) : lines);
}

function flatFeeLines(rates: RateConfiguration, input: CalculateInput): QuoteLine[] {
  return [
    flatFee('carriersFee', rates.carriersFee ? input.carriersFee : 0),
    flatFee('policyFee', rates.policyFee ? input.policyFee : 0),
    flatFee('inspectionFee', input.inspectionFee),
  ];
}

function flatFee(name: string, amount: number | undefined): QuoteLine {
  return { name, kind: 'fee', mode: null, value: null, base: null, amount: toMoney(new Big(amount ?? 0)) };
}

// The configuration has no flags for the inspection fee: it always applies, and it is taxed if the policy fee
// is.
function taxableFees(rates: RateConfiguration, input: CalculateInput): Big {
  const { carriersFee = 0, policyFee = 0, inspectionFee = 0 } = input;
  return new Big(0)
    .plus(rates.carriersFee && rates.carriersTaxable ? carriersFee : 0)
    .plus(rates.policyFee && rates.policyTaxable ? policyFee : 0)
    .plus(rates.policyTaxable ? inspectionFee : 0);
}

function withManualValue(rate: Rate, value: number | undefined): Rate {
  return rate.mode === 'MANUAL' && value !== undefined ? { mode: rate.mode, value } : rate;
}

function line(name: string, kind: QuoteLine['kind'], rate: Rate, bases: Bases): QuoteLine {
  const base = bases[rate.mode];
  const amount = base === null ? new Big(rate.value) : base.times(rate.value).times('0.01');
  return {
    name,
    kind,
    mode: rate.mode,
    value: rate.value,
    base: base === null ? null : toMoney(base),
    amount: toMoney(amount),
  };
}

function toMoney(amount: Big): number {
  return amount.round(moneyDecimals, Big.roundHalfUp).toNumber();
}

function negated(quoteLine: QuoteLine): QuoteLine {
  return { ...quoteLine, amount: quoteLine.amount === 0 ? 0 : -quoteLine.amount };
}

function toQuote(input: CalculateInput, breakdown: readonly QuoteLine[]) {
  return {
    filingType: input.filingType,
    stateAbbr: input.stateAbbr,
    premium: input.premium,
    currency: 'USD' as const,
    total: sumOf(breakdown),
    filingFee: sumOf(breakdown.filter(({ kind }) => kind === 'filing-fee')),
    tax: sumOf(breakdown.filter(({ kind }) => kind === 'tax')),
    fees: sumOf(breakdown.filter(({ kind }) => kind === 'fee')),
    breakdown,
  };
}

function sumOf(lines: readonly QuoteLine[]): number {
  return lines.reduce((sum, { amount }) => sum.plus(amount), new Big(0)).toNumber();
}
