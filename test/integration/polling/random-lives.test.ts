import { it } from 'vitest';
import { expectTruthThrough } from './random-lives.ts';

// Its long form: random-lives.long.test.ts.
it(
  'tells the truth and nothing but it through random lives, faults, races, aborts and restored stores',
  () => expectTruthThrough(12, 12),
  120_000,
);
