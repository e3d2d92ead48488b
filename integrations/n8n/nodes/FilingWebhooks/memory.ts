import type { IDataObject } from 'n8n-workflow';

/** What a trigger remembers of the callbacks that it has taken: bounded, and small enough for n8n's static data. */
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

/** Reads a memory from static data; what is not one counts as nothing. */
export function readMemory(value: unknown): Memory {
  const { ids, sequences } = (value ?? {}) as Partial<Record<keyof Memory, unknown>>;
  const memory: Memory = { ids: new Set(), sequences: new Map() };
  for (const id of asArray(ids)) if (typeof id === 'string') rememberId(memory, id);
  for (const [filingId, sequence] of asArray(sequences).map(asArray))
    if (typeof filingId === 'string' && typeof sequence === 'number')
      rememberSequence(memory, filingId, sequence);
  return memory;
}

/** A memory as static data holds it. */
export function writeMemory({ ids, sequences }: Memory): IDataObject {
  return { ids: [...ids], sequences: [...sequences].map((pair) => [...pair]) };
}

/** Adds to the memory of a process what n8n kept in its database and the process does not know: another process may have taken it. */
export function learn(memory: Memory, kept: Memory): void {
  const known = { ids: [...memory.ids], sequences: [...memory.sequences] };
  for (const id of kept.ids) if (!memory.ids.has(id)) rememberId(memory, id);
  for (const id of known.ids) rememberId(memory, id);
  for (const [filingId, sequence] of [...kept.sequences, ...known.sequences])
    rememberSequence(memory, filingId, sequence);
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
