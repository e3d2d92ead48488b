import { startBlockCoverage } from './block-coverage.ts';
import { fuzz } from './fuzz.ts';
import { searchApi } from '../slow-search/search-api.ts';
import { targets } from './targets.ts';

// FUZZ_SECONDS for each target, FUZZ_SEED to begin elsewhere (printed, and the same again finds the same);
// arguments name targets. `slow` searches the whole API for requests that hold the event loop.
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 10);
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const wanted = process.argv.slice(2);
const chosen = targets.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const sources = new URL('../../../src/', import.meta.url).href;

const slow = 'slow';
process.stdout.write(`FUZZ_SEED=${seed} FUZZ_SECONDS=${seconds}\n`);
if (wanted.includes(slow) && (await searchApi(seed, seconds)) > 0) process.exitCode = 1;
using coverage = await startBlockCoverage(sources);
for (const target of chosen) {
  // One after the other: blocks are counted for each target by itself.
  // oxlint-disable no-await-in-loop
  await coverage.forget();
  const search = { seed, executions: Infinity, forMs: seconds * 1_000 };
  const { executions, corpus, failure } = await fuzz(target, coverage, search);
  // oxlint-enable no-await-in-loop
  const { covered, known } = coverage.blocks();
  const figures = `${executions} inputs, ${corpus} kept, ${covered} of ${known} blocks`;
  process.stdout.write(`${target.name.padEnd(28)} ${figures}\n`);
  if (failure === null) continue;
  process.exitCode = 1;
  const { input, error } = failure;
  process.stdout.write(
    `  BROKEN by ${JSON.stringify(input.toString('latin1'))} (latin1)\n  ${error.stack}\n`,
  );
}
