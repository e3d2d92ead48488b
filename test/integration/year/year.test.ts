import { it } from 'vitest';
import { expectNothingUnnoticed } from './expect-year.ts';

// Its long form: year.long.test.ts.
it(
  'in a year with kills and outages no rejection ends unnoticed, and no alarm outlives its rejection',
  () => expectNothingUnnoticed({ accounts: 2, filings: 240, lookAlikes: 6, kills: 5, pollDays: 2 }),
  120_000,
);
