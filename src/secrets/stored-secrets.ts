import { setImmediate as turn } from 'node:timers/promises';
import { keyIdOf, SealError } from './seal.ts';
import type { Sealer } from './seal.ts';
import { placeName } from './seal-place.ts';
import type { SealPlace } from './seal-place.ts';

/** A sealed text and the place in which it opens. */
export interface PlacedText {
  readonly text: string;
  readonly place: SealPlace;
}

/** A record of a store with the sealed texts in it. */
export interface SealedRecord {
  readonly texts: readonly PlacedText[];
  /**
   * Writes the record with these texts instead of the former ones, in the same order. False when another
   * process changed it since it was read.
   */
  replace(texts: readonly string[]): Promise<boolean>;
}

/** Records in the order in which they are read; a store may hold more than fit into memory. */
export type SealedRecords = Iterable<SealedRecord> | AsyncIterable<SealedRecord>;

/** Numbers of the sealed texts of a store, by key. */
export interface SealTally {
  /** Texts that open, by the id of their key. */
  readonly readable: ReadonlyMap<string, number>;
  /** Texts that do not open, by the id of the key that they name. */
  readonly unreadable: ReadonlyMap<string, number>;
  /** Owners of the texts that do not open. */
  readonly unreadableOwners: readonly string[];
}

// Number of records opened in a row, in a millisecond or two, before the event loop gets its turn.
const recordsAtOnce = 100;

/** Tries to open every sealed text. Writes nothing. */
export async function tallySecrets(sealer: Sealer, records: SealedRecords): Promise<SealTally> {
  const readable = new Map<string, number>();
  const unreadable = new Map<string, number>();
  const owners = new Set<string>();
  for await (const { texts } of inTurns(records)) {
    for (const { text, place } of texts) {
      const opens = openOrNull(sealer, text, place) !== null;
      const counts = opens ? readable : unreadable;
      counts.set(keyIdOf(text), (counts.get(keyIdOf(text)) ?? 0) + 1);
      if (!opens) owners.add(placeName(place));
    }
  }
  return { readable, unreadable, unreadableOwners: [...owners] };
}

/**
 * Seals again, with the newest key, what an older key sealed. Returns the number of records written. A record
 * that does not open, or that another process has changed, stays as it is. A crash leaves every record sealed
 * with one key or the other.
 */
export async function resealOld(sealer: Sealer, records: SealedRecords): Promise<number> {
  let resealed = 0;
  for await (const record of inTurns(records)) {
    const { texts } = record;
    if (texts.every(({ text }) => sealer.isCurrent(text))) continue;
    const sealed = texts.map(({ text, place }) => {
      const opened = openOrNull(sealer, text, place);
      return opened === null ? null : sealer.seal(opened, place);
    });
    const known = sealed.filter((text) => text !== null);
    if (known.length < sealed.length) continue;
    if (await record.replace(known)) resealed += 1;
  }
  return resealed;
}

async function* inTurns(records: SealedRecords): AsyncGenerator<SealedRecord> {
  let inARow = 0;
  for await (const record of records) {
    inARow = (inARow + 1) % recordsAtOnce;
    if (inARow === 0) await turn();
    yield record;
  }
}

function openOrNull(sealer: Sealer, text: string, place: SealPlace): string | null {
  try {
    return sealer.open(text, place);
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
