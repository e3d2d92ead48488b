import { it } from 'vitest';
import { expectTruthThrough } from './random-lives.ts';

// More or fewer of them: PROPERTY_RUNS, and PROPERTY_MS for how long.
it(
  'tells the truth and nothing but it through random lives, faults, races, aborts and restored stores',
  () => expectTruthThrough(150, 100),
  600_000,
);
