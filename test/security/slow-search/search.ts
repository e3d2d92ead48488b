import { createRandom, pick, type Random } from '../../../src/sandbox/random.ts';
import { changeRequest } from './change-request.ts';
import { lengthOf, type HttpRequest } from './http-request.ts';
import { shrinkRequest } from './shrink-request.ts';

/** A request to begin with; requests made of it count for the same operation. */
export interface Seed {
  readonly operation: string;
  readonly request: HttpRequest;
}

/** How to search. */
export interface SlowSearch {
  readonly seed: number;
  /** Maximum number of requests before a finding is made sure of. */
  readonly executions: number;
  /** Ends the search early, in milliseconds. */
  readonly forMs?: number;
  /** Milliseconds of processor time from which a request is slow. */
  readonly slowMs: number;
  /** False: requests that cost more are forgotten, for comparison. */
  readonly guided?: boolean;
}

/** A request that is slow each time, made as small as it gets. */
export interface SlowRequest extends Seed {
  /** Milliseconds of three tries. */
  readonly costs: readonly number[];
}

/** The outcome of a search. */
export interface SlowReport {
  readonly executions: number;
  /** At most one for each operation. */
  readonly findings: readonly SlowRequest[];
  /** The dearest request of each operation, the dearest first. */
  readonly dearest: readonly (Seed & { readonly costMs: number })[];
}

/** Sends a request and resolves with the milliseconds of processor time that it cost. */
export type CostOf = (request: HttpRequest) => Promise<number>;

interface Kept {
  readonly request: HttpRequest;
  readonly costMs: number;
}

// A cost that is higher by less than this is noise.
const noiseFactor = 1.15;
const noiseMs = 0.1;

/**
 * Searches for requests that hold the event loop. It keeps the dearest request of each operation and each
 * magnitude of size, and goes on from those that cost the most for their size: where the time of a parser
 * grows faster than its input, the chain of ever longer requests leads there.
 */
export async function searchSlow(
  seeds: readonly Seed[],
  words: readonly string[],
  costOf: CostOf,
  { seed, executions, forMs = Infinity, slowMs, guided = true }: SlowSearch,
): Promise<SlowReport> {
  const random = createRandom(seed);
  const endsAt = performance.now() + forMs;
  const operations = [...new Set(seeds.map(({ operation }) => operation))];
  const cells = new Map(operations.map((operation) => [operation, new Map<number, Kept>()]));
  const findings: SlowRequest[] = [];
  let tried = 0;

  const isOver = () => tried >= executions || performance.now() > endsAt;
  const open = () => operations.filter((one) => !findings.some(({ operation }) => operation === one));

  async function look(operation: string, request: HttpRequest): Promise<void> {
    const size = Math.floor(Math.log2(lengthOf(request)) * 2);
    const of = cells.get(operation) ?? new Map<number, Kept>();
    const limit = (of.get(size)?.costMs ?? 0) * noiseFactor + noiseMs;
    const first = await costOf(request);
    tried += 1;
    if (first <= limit) return;
    // A collection of garbage or a colleague's work does not happen to the same request twice.
    const costMs = Math.min(first, await costOf(request));
    if (costMs > limit && guided) of.set(size, { request, costMs });
    if (costMs <= slowMs) return;
    const costs = await threeTries(costOf, request);
    if (costs.some((one) => one <= slowMs)) return;
    const isSlow = async (smaller: HttpRequest) =>
      (await costOf(smaller)) > slowMs && (await costOf(smaller)) > slowMs;
    const smallest = await shrinkRequest(request, isSlow);
    findings.push({ operation, request: smallest, costs: await threeTries(costOf, smallest) });
  }

  for (const { operation, request } of seeds) await look(operation, request);
  while (!isOver() && open().length > 0) {
    const operation = pick(random, open());
    const kept = [...(cells.get(operation)?.values() ?? [])];
    const parent = parentOf(kept, random) ?? seeds.find((one) => one.operation === operation)?.request;
    if (parent === undefined) break;
    await look(operation, changeRequest(parent, pick(random, seeds).request, words, random));
  }
  const dearest = [...cells].flatMap(([operation, of]) => {
    const [top] = [...of.values()].toSorted((a, b) => b.costMs - a.costMs);
    return top === undefined ? [] : [{ operation, ...top }];
  });
  return { executions: tried, findings, dearest: dearest.toSorted((a, b) => b.costMs - a.costMs) };
}

async function threeTries(costOf: CostOf, request: HttpRequest): Promise<number[]> {
  return [await costOf(request), await costOf(request), await costOf(request)];
}

// The best of three drawn ones: by cost, or by cost for the size.
function parentOf(kept: readonly Kept[], random: Random): HttpRequest | undefined {
  if (kept.length === 0) return undefined;
  const drawn = Array.from({ length: 3 }, () => pick(random, kept));
  const forSize = random() < 0.5;
  const worth = ({ request, costMs }: Kept) => (forSize ? costMs / lengthOf(request) : costMs);
  return drawn.toSorted((a, b) => worth(b) - worth(a))[0]?.request;
}
