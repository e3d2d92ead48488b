import { createRandom, type Random } from '../../src/sandbox/random.ts';

/**
 * Numbers in [0, 1) from the seed that a variable of the environment names, otherwise from a new one. Prints
 * the seed, which repeats a run that failed.
 */
export function seededRandom(variable: 'CRASH_SEED' | 'PROPERTY_SEED'): Random {
  const seed = Number(process.env[variable] ?? Date.now() % 2 ** 31);
  process.stderr.write(`${variable}=${seed}\n`);
  return createRandom(seed);
}
