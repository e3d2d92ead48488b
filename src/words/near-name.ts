import { distance } from 'fastest-levenshtein';
import { cutText } from '../json/cut-text.ts';

// Maximum characters of a name that is compared: the comparison takes time in the product of two lengths.
const comparedMax = 64;
// Maximum characters of a wrong name that a message repeats.
const shownMax = 40;
// Minimum characters of a word that is looked for inside longer names.
const partMin = 3;

/**
 * The known name that a text is likely meant to be, null if none is near. Case, dashes, underscores and dots
 * do not count. A name is near when at most a third of its characters differ, and `differingMax`. A text of
 * more than 64 characters is near nothing, so the time is bounded whatever the text is.
 */
export function nearName(text: string, known: Iterable<string>, differingMax = 3): string | null {
  if (text.length > comparedMax) return null;
  const plain = plainly(text);
  const room = Math.min(differingMax, Math.floor(plain.length / 3));
  let best: { readonly name: string; readonly differing: number } | null = null;
  for (const name of known) {
    const differing = distance(plain, plainly(name));
    if (differing <= room && differing < (best?.differing ?? Infinity)) best = { name, differing };
  }
  return best?.name ?? null;
}

/**
 * The shortest known name that begins with the text, as `statuses` with `status`; otherwise as `nearName`, or
 * the first that contains the text as a part: `types` in `eventTypes`.
 */
export function likelyName(text: string, known: readonly string[]): string | null {
  const plain = plainly(text);
  if (text.length > comparedMax || plain.length < partMin) return nearName(text, known);
  const [begun = null] = known
    .filter((name) => plainly(name).startsWith(plain))
    .toSorted((one, other) => one.length - other.length);
  return begun ?? nearName(text, known) ?? known.find((name) => plainly(name).includes(plain)) ?? null;
}

/**
 * The message about a word that is none of the known ones. `noun` says what the
 * known ones are: `"filing.rejectd" is no event type; did you mean filing.rejected? Known: …`.
 */
export function unknownWord(text: string, noun: string, known: readonly string[]): string {
  return `${quoted(text)} is no ${noun}${suggestion(text, known)}`;
}

/** The end of a message about an unknown name: what may be meant, and the known ones. */
export function suggestion(text: string, known: readonly string[]): string {
  const hint = meant(text, known);
  return `${hint === '' ? '.' : hint} Known: ${known.join(', ')}`;
}

/** `; did you mean …?`, or empty if no known name is likely meant. */
export function meant(text: string, known: readonly string[]): string {
  const likely = likelyName(text, known);
  return likely === null ? '' : `; did you mean ${likely}?`;
}

/** A text in quotes on one line, cut off after forty characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > shownMax ? `${cutText(text, shownMax)}…` : text);
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.\s]/g, '');
}
