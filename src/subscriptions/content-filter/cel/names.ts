import { distance } from 'fastest-levenshtein';
import { eventNames, isOpen, pathsByName, type Shape } from './event-fields.ts';

// Maximum characters of a name for which a similar one is looked for.
const comparedMax = 64;

const paths = pathsByName();

/** What is wrong with a name that no event has, and a name that it is likely meant to be. */
export function unknownName(name: string): string {
  const names = Object.keys(eventNames);
  const near =
    paths.get(name) ?? nearest(name, names) ?? paths.get(nearest(name, [...paths.keys()]) ?? '') ?? null;
  const hint = near === null ? '.' : `; did you mean ${near}?`;
  return `${name.slice(0, comparedMax)} is not known${hint} A path begins with one of ${names.join(', ')}`;
}

/**
 * What is wrong with a field that is not among those known of the object at a path; null where the partner
 * service may send it.
 */
export function unknownField(
  fields: Readonly<Record<string, Shape>>,
  path: string,
  name: string,
): string | null {
  const known = Object.keys(fields);
  const near = nearest(name, known);
  const ownPath = near === null ? null : `${path}.${near}`;
  const elsewhere = paths.get(name)?.replace(/^filing\b/, path.startsWith('data') ? 'data.filing' : 'filing');
  if (!isOpen(fields)) {
    const meant = ownPath ?? elsewhere;
    const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
    return `${path} has no field ${name}${hint} Known: ${known.join(', ')}`;
  }
  const ofFiling = fields === eventNames.filing && elsewhere?.includes('filing.') === true ? elsewhere : null;
  const meant = ofFiling ?? ownPath;
  if (meant === null) return null;
  const anyway = `write ${path}["${name}"] if the partner service really sends that`;
  return `${path} has no known field ${name}; did you mean ${meant}? Otherwise ${anyway}`;
}

const loops =
  'filters have no loops over lists, because nothing bounds what these take; use `in`, size(…) or one item, as in filing.userFiles[0].name';

// Parts of the language that filters lack, with the text to write in their place.
const notHere: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['all', 'exists', 'exists_one', 'filter', 'map'].map((name) => [name, loops])),
  matches:
    'filters have no regular expressions, because a search with one may take any time; use contains, startsWith or endsWith',
  timestamp: 'filters have no times; compare the texts, as in filing.policyEffectiveDate >= "2026-11-01"',
  duration: 'filters have no durations; compare the texts of times',
  int: 'use double(…), or the number itself: 5 equals 5.0 here',
  uint: 'use double(…), or the number itself',
  string: 'filters make no texts; compare the value itself',
  bytes: 'filters have no bytes',
  dyn: 'no dyn() is needed: leave it out',
  type: 'use has(…) to ask for a field, or compare with null',
};

/** What is wrong with a function that is not among those known, and what to write in its place. */
export function unknownFunction(name: string, known: readonly string[]): string {
  if (Object.hasOwn(notHere, name)) return `${name}: ${notHere[name]}`;
  const near = nearest(name, known);
  const hint = near === null ? '.' : `; did you mean ${near}?`;
  return `there is no function ${name.slice(0, 40)}${hint} Known: ${known.join(', ')}`;
}

// The known word that another one is likely meant to be; null where none is near.
function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > comparedMax) return null;
  const plain = word.toLowerCase();
  const room = Math.min(3, Math.floor(plain.length / 3));
  let best: { readonly name: string; readonly differing: number } | null = null;
  for (const name of known) {
    const differing = distance(plain, name.toLowerCase());
    if (differing <= room && differing < (best?.differing ?? Infinity)) best = { name, differing };
  }
  return best?.name ?? null;
}
