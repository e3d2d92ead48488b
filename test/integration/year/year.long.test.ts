import { it } from 'vitest';
import { expectNothingUnnoticed } from './expect-year.ts';

// Larger or smaller: YEAR_ACCOUNTS, each with two thousand filings.
const accounts = Number(process.env['YEAR_ACCOUNTS'] ?? 2);

it(
  'in a year with kills and outages no rejection ends unnoticed, and no alarm outlives its rejection',
  () =>
    expectNothingUnnoticed({
      accounts,
      filings: accounts * 2_000,
      lookAlikes: accounts,
      kills: accounts,
      pollDays: 1,
    }),
  3_600_000,
);
