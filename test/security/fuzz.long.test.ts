import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBlockCoverage, type BlockCoverage } from './fuzz/block-coverage.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { targets } from './fuzz/targets.ts';

// A short look that is the same each time; `npm run fuzz` searches on, from another place each time.
const search = { seed: 1, executions: 256 };
let coverage: BlockCoverage;

beforeAll(async () => {
  coverage = await startBlockCoverage(new URL('../../src/', import.meta.url).href);
});

afterAll(() => coverage[Symbol.dispose]());

test.each(targets)('no input breaks what must hold: $name', async (target) => {
  await coverage.forget();
  const { failure, executions } = await fuzz(target, coverage, search);
  expect(failure === null ? '' : `${failure.input.toString('latin1')}: ${failure.error.stack}`).toBe('');
  expect(executions).toBeGreaterThanOrEqual(search.executions);
});
