import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBlockCoverage, type BlockCoverage } from './block-coverage.ts';
import { fuzz } from './fuzz.ts';
import { minimize } from './minimize.ts';
import { checkMagic, searchLong } from './broken-reader.ts';

let coverage: BlockCoverage;
const broken = { name: 'four bytes', seeds: () => ['abcd'], run: checkMagic };

beforeAll(async () => {
  coverage = await startBlockCoverage(new URL('broken-reader.ts', import.meta.url).href);
});

afterAll(() => coverage[Symbol.dispose]());

test('a bug behind a chain of four bytes is found by the inputs that get deeper, and made small', async () => {
  await coverage.forget();
  const { failure, executions } = await fuzz(broken, coverage, { seed: 4, executions: 60_000 });
  expect(failure?.error.message).toBe('a bug');
  expect(failure?.input.toString()).toBe('{9%~');
  await coverage.forget();
  const unguided = { seed: 4, executions: 3 * executions, guided: false };
  expect(await fuzz(broken, coverage, unguided)).toMatchObject({ failure: null, corpus: 1 });
});

test('the same seed tries the same inputs', async () => {
  const run = async () => {
    const tried: string[] = [];
    const target = { ...broken, run: (input: Buffer) => void tried.push(input.toString('latin1')) };
    await coverage.forget();
    await fuzz(target, coverage, { seed: 7, executions: 500 });
    return tried;
  };
  expect(await run()).toEqual(await run());
});

test('how often a loop runs counts as something new', async () => {
  await coverage.forget();
  const target = { name: 'loop', seeds: () => ['a'], run: searchLong };
  expect((await fuzz(target, coverage, { seed: 5, executions: 4_000 })).corpus).toBeGreaterThan(4);
});

test('what fails is made as small as it gets', () => {
  const stillFails = (input: Buffer) => input.includes('x') && input.includes('y');
  expect(minimize(Buffer.from('aaaaxbbbbbbbbycc'), stillFails).toString()).toBe('xy');
});
