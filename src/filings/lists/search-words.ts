import { escapeGlob } from '../../redis/scan-keys.ts';
import { folded } from '../../words/folded.ts';
import type { FilingDetails } from '../detection/filing-details.ts';

/** A search for filings, made from the words that people type. */
export interface SearchWords {
  /** Folded, each once. */
  readonly words: readonly string[];
  /**
   * Whether a filing may match, by its id and its details as they are stored. False is certain; the details
   * need not be parsed for that.
   */
  mayMatch(id: string, details: string | null): boolean;
  /** Whether each word is a part of the policy number, of the insured's name or of the id, all folded. */
  matches(id: string, details: FilingDetails | null): boolean;
}

/** The search for a text: its words, compared letter by letter. Nothing in it is a pattern. Pure. */
export function searchWords(text: string): SearchWords {
  // A text of invisible characters alone finds nothing, instead of all.
  const words = [...new Set((folded(text).trim() || text).split(/\s+/u).filter(Boolean))];
  // As they stand in JSON. Quotes and backslashes are escaped there, unless they were folded to these.
  const inJson = words.map((word) => (/["\\]/.test(word) ? '' : JSON.stringify(word).slice(1, -1)));
  return {
    words,
    mayMatch(id, details) {
      const stored = folded(details ?? '');
      const foldedId = folded(id);
      return words.every((word, i) => foldedId.includes(word) || stored.includes(inJson[i] ?? word));
    },
    matches(id, details) {
      const texts = [id, details?.policyNumber ?? '', details?.insuredsName ?? ''].map(folded);
      return words.every((word) => texts.some((each) => each.includes(word)));
    },
  };
}

/**
 * A pattern of Redis for texts with this part, in any case of the letters a to z; pure. Letters beyond ASCII
 * match any text: what is found has to be looked through.
 */
export function globOfPart(part: string): string {
  const pieces = Array.from(part, (character) =>
    /[a-z]/i.test(character)
      ? `[${character.toLowerCase()}${character.toUpperCase()}]`
      : /\p{ASCII}/u.test(character)
        ? escapeGlob(character)
        : '*',
  );
  return `*${pieces.join('')}*`;
}
