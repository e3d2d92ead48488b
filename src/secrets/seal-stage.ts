/**
 * The seals that a process makes and opens (docs/adr/0014). `former`: it makes them as older versions do, so
 * that those open them, and opens both kinds. `binding`: it makes bound ones and opens both kinds. `bound`:
 * it makes and opens bound ones only.
 */
export type SealStage = 'former' | 'binding' | 'bound';

/**
 * The mark of a store: all of its seals are bound, or they are bound from that time on, in milliseconds on
 * Redis's clock.
 */
export type SealMark = 'bound' | number;

/**
 * Milliseconds for which seals stay as older versions make them, from the first start on a store of an older
 * version: processes of that version may still run, or come back.
 */
export const formerForMs = 3_600_000;

// Milliseconds after which no write of the former kind is still on its way.
const lastWritesMs = 300_000;

/** The stage at a time; pure. Before the mark is known nothing is sealed, and both kinds open. */
export function sealStage(mark: SealMark | null, now: number): SealStage {
  if (mark === null) return 'binding';
  if (mark === 'bound') return 'bound';
  return now < mark ? 'former' : 'binding';
}

/**
 * The mark of a store without one; pure. A store with seals of both kinds was being bound when it lost its
 * mark: that goes on at once, because going back would let seals be moved again.
 */
export function firstMark(seals: { readonly bound: number; readonly former: number }, now: number): SealMark {
  if (seals.former === 0) return 'bound';
  return seals.bound === 0 ? now + formerForMs : now;
}

/**
 * The mark that counts of one that is known and one that is read now; pure. It never goes back: seals that
 * older versions open are made no more once bound ones were.
 */
export function laterMark(known: SealMark | null, read: SealMark | null): SealMark | null {
  if (known === null || read === null) return known ?? read;
  return known === 'bound' || read === 'bound' ? 'bound' : Math.min(known, read);
}

/** Whether a store may be marked as bound once no seal of the former kind is found in it; pure. */
export function mayBeMarkedBound(mark: SealMark | null, now: number): boolean {
  return mark !== null && mark !== 'bound' && now >= mark + lastWritesMs;
}

/** The mark as it is stored. */
export function markText(mark: SealMark): string {
  return mark === 'bound' ? mark : `from ${mark}`;
}

/**
 * The mark from its stored text; null where there is none. A text that is none is read as `bound`, which
 * opens the least.
 */
export function parseMark(text: string | null): SealMark | null {
  if (text === null) return null;
  const from = /^from (\d{1,15})$/.exec(text)?.[1];
  return from === undefined ? 'bound' : Number(from);
}
