import { setImmediate as turn } from 'node:timers/promises';
import { keyIdOf, SealError } from './seal.ts';
import type { Sealer } from './seal.ts';

/** A record of a store with the sealed texts in it. */
export interface SealedRecord {
  /** The context that opens its texts, e.g. `account:default`. */
  readonly context: string;
  readonly texts: readonly string[];
  /**
   * Writes the record with these texts instead of the former ones, in the same order. False when another
   * process changed it since it was read.
   */
  replace(texts: readonly string[]): Promise<boolean>;
}

/** Numbers of the sealed texts of a store, by key. */
export interface SealTally {
  /** Texts that open, by the id of their key. */
  readonly readable: ReadonlyMap<string, number>;
  /** Texts that do not open, by the id of the key that they name. */
  readonly unreadable: ReadonlyMap<string, number>;
  /** Contexts of the texts that do not open. */
  readonly unreadableContexts: readonly string[];
}

// Number of records opened in a row, in a millisecond or two, before the event loop gets its turn.
const recordsAtOnce = 100;

/** Tries to open every sealed text. Writes nothing. */
export async function tallySecrets(sealer: Sealer, records: readonly SealedRecord[]): Promise<SealTally> {
  const readable = new Map<string, number>();
  const unreadable = new Map<string, number>();
  const contexts = new Set<string>();
  for await (const { context, texts } of inTurns(records)) {
    for (const text of texts) {
      const opens = openOrNull(sealer, text, context) !== null;
      const counts = opens ? readable : unreadable;
      counts.set(keyIdOf(text), (counts.get(keyIdOf(text)) ?? 0) + 1);
      if (!opens) contexts.add(context);
    }
  }
  return { readable, unreadable, unreadableContexts: [...contexts] };
}

/**
 * Seals with the newest key the texts of older ones; returns the number of records written. A record that
 * does not open, or that another process changes meanwhile, stays as it is. A crash leaves every record
 * sealed with one key or the other.
 */
export async function resealOld(sealer: Sealer, records: readonly SealedRecord[]): Promise<number> {
  let resealed = 0;
  for await (const record of inTurns(records)) {
    const { context, texts } = record;
    if (texts.every((text) => sealer.isSealedWithNewest(text))) continue;
    const opened = texts.map((text) => openOrNull(sealer, text, context));
    const known = opened.filter((text) => text !== null);
    if (known.length < opened.length) continue;
    if (await record.replace(known.map((text) => sealer.seal(text, context)))) resealed += 1;
  }
  return resealed;
}

async function* inTurns(records: readonly SealedRecord[]): AsyncGenerator<SealedRecord> {
  for (const [i, record] of records.entries()) {
    if (i % recordsAtOnce === recordsAtOnce - 1) await turn();
    yield record;
  }
}

function openOrNull(sealer: Sealer, text: string, context: string): string | null {
  try {
    return sealer.open(text, context);
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
