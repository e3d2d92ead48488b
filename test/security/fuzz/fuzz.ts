import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import { createRandom, pick, type Random } from '../../../src/sandbox/random.ts';
import type { BlockCoverage } from './block-coverage.ts';
import { minimize } from './minimize.ts';
import { inputBytesMax, mutate } from './mutate.ts';

/** Something that takes input from strangers. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs to begin with; the more of what can be right they show, the better. */
  readonly seeds: () => readonly string[];
  /** Throws when what must hold for every input does not hold for this one. */
  readonly run: (input: Buffer) => void;
}

/** How long to search, and from where: the same seed and executions try the same inputs. */
export interface FuzzSearch {
  readonly seed: number;
  /** At most so many inputs. */
  readonly executions: number;
  /** Ends the search early, in milliseconds; the inputs then depend on the speed of the machine. */
  readonly forMs?: number;
  /** False: inputs that reach something new are forgotten, for comparison. */
  readonly guided?: boolean;
}

/** What a search has come to. */
export interface FuzzReport {
  readonly executions: number;
  /** Inputs that each reached something new. */
  readonly corpus: number;
  /** The input for which `run` threw, made as small as it gets, and what it threw; null when none did. */
  readonly failure: { readonly input: Buffer; readonly error: Error } | null;
}

const batchSize = 128;
const countedPerBatch = 4;
// No input of 4 KiB may take a second; one that never ends is stopped.
const slowMs = 1_000;
const hangMs = 20_000;

/**
 * Searches for an input that breaks a target, until one is found or the search is over. Inputs are mutations
 * of those that reached blocks of the covered sources that none before had reached, or other magnitudes of
 * their counts. A look at the coverage takes as long as many runs, so that counts are compared for a few
 * inputs only, and the others are looked at together.
 */
export async function fuzz(
  target: FuzzTarget,
  coverage: BlockCoverage,
  { seed, executions, forMs = Infinity, guided = true }: FuzzSearch,
): Promise<FuzzReport> {
  const random = createRandom(seed);
  const attempt = createAttempt(target);
  const corpus: Buffer[] = target.seeds().map((text) => Buffer.from(text).subarray(0, inputBytesMax));
  const endsAt = performance.now() + forMs;
  let tried = 0;

  const report = (failure: FuzzReport['failure']) => ({ executions: tried, corpus: corpus.length, failure });
  const failed = (inputs: readonly Buffer[]) => {
    tried += inputs.length;
    return attempt(inputs);
  };
  const shrunk = ({ input, error }: Failure) => {
    if (error instanceof SlowInputError) return report({ input, error });
    const smallest = minimize(input, (smaller) => attempt([smaller])?.error.name === error.name);
    return report(attempt([smallest]));
  };

  /**
   * Keeps those of some inputs that reach something new, found by halves. They have been tried, so nothing
   * watches over them.
   */
  async function keepNew(inputs: readonly Buffer[]): Promise<void> {
    for (const input of inputs) target.run(input);
    if (inputs.length === 1) {
      if ((await coverage.remember()) > 0) corpus.push(...inputs);
    } else if (await coverage.isNew()) {
      const middle = Math.ceil(inputs.length / 2);
      await keepNew(inputs.slice(0, middle));
      await keepNew(inputs.slice(middle));
    }
  }

  const broken = failed(corpus);
  if (broken !== null) return shrunk(broken);
  await coverage.remember();
  const words = wordsOf(coverage.files());
  while (tried < executions && performance.now() < endsAt) {
    const batch = Array.from({ length: batchSize }, () => next(corpus, words, random));
    const broke = failed(batch);
    if (broke !== null) return shrunk(broke);
    if (!guided) continue;
    if (await coverage.isNew()) await keepNew(batch);
    for (const input of batch.slice(0, countedPerBatch)) await keepNew([input]);
  }
  return report(null);
}

type Failure = NonNullable<FuzzReport['failure']>;

/**
 * Runs a target on inputs, one after the other; the first that fails, takes too long or does not come to an
 * end, or null.
 */
function createAttempt({ run }: FuzzTarget): (inputs: readonly Buffer[]) => Failure | null {
  const work = { inputs: [] as readonly Buffer[], at: 0, run: () => {} };
  work.run = () => {
    for (const input of work.inputs) {
      const startedAt = performance.now();
      run(input);
      if (performance.now() - startedAt > slowMs) throw new SlowInputError(`took more than ${slowMs} ms`);
      work.at += 1;
    }
  };
  const script = new Script('work.run()');
  const context = createContext({ work });
  return (inputs) => {
    [work.inputs, work.at] = [inputs, 0];
    try {
      script.runInContext(context, { timeout: hangMs });
      return null;
    } catch (error) {
      const input = inputs[work.at] ?? Buffer.of();
      return { input, error: asError(error) };
    }
  };
}

function asError(thrown: unknown): Error {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return new SlowInputError(`not over after ${hangMs} ms`);
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** An input took much longer than its size explains. */
class SlowInputError extends Error {
  override readonly name = 'SlowInputError';
}

// The later an input was found, the deeper it is, mostly.
function next(corpus: readonly Buffer[], words: readonly string[], random: Random): Buffer {
  const parent = corpus[Math.floor(Math.sqrt(random()) * corpus.length)] ?? Buffer.of();
  return mutate(parent, pick(random, corpus), words, random);
}

/** The texts in single quotes in these sources: what they compare with is often among them. */
function wordsOf(files: readonly string[]): string[] {
  const texts = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/'([^'\\\n]{1,40})'/g)]);
  return [...new Set(texts.map(([, text = '']) => text)), '0'];
}
