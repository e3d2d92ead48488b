/** What a trigger remembers of the callbacks that it has taken; bounded. */
export interface Memory {
  /** Ids of the latest acknowledged events, the oldest first. */
  readonly ids: Set<string>;
  /** The greatest sequence of each of the latest filings, the filing of the oldest event first. */
  readonly sequences: Map<string, number>;
}

/** Maximum number of event ids that are remembered. */
export const idsMax = 500;

/** Maximum number of filings of which the greatest sequence is remembered. */
export const filingsMax = 1000;

/** Remembers the id of an acknowledged event, and forgets the oldest beyond the bound. */
export function rememberId({ ids }: Memory, id: string): void {
  ids.delete(id);
  ids.add(id);
  forgetBeyond(ids, idsMax);
}

/** Remembers the sequence of an event of a filing, and forgets the oldest filing beyond the bound; a smaller one than the known changes nothing. */
export function rememberSequence({ sequences }: Memory, filingId: string, sequence: number): void {
  const greatest = Math.max(sequence, sequences.get(filingId) ?? 0);
  sequences.delete(filingId);
  sequences.set(filingId, greatest);
  forgetBeyond(sequences, filingsMax);
}

/** Whether an event is older than one of its filing that was taken before. */
export function isStale({ sequences }: Memory, filingId: string, sequence: number): boolean {
  return sequence < (sequences.get(filingId) ?? 0);
}

/** An empty memory. */
export function newMemory(): Memory {
  return { ids: new Set(), sequences: new Map() };
}

/** Adds the sequences that static data has; what is none counts as nothing. Another process may have written them. */
export function learnSequences(memory: Memory, kept: unknown): void {
  for (const [filingId, sequence] of asArray(kept).map(asArray))
    if (typeof filingId === 'string' && typeof sequence === 'number')
      rememberSequence(memory, filingId, sequence);
}

/** The sequences as static data holds them. */
export function writeSequences({ sequences }: Memory): [string, number][] {
  return [...sequences];
}

function forgetBeyond(kept: Set<string> | Map<string, number>, max: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
