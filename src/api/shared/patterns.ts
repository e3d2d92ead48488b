import { accountNamePattern } from '../../accounts/account.ts';
import { eventPatterns, offeredPatterns } from '../../events/event-types.ts';
import { quoted, unknownWord } from '../../words/near-name.ts';

/** The form of an account's name, in words. */
export const accountNameWords = '1 to 64 letters, digits, dots, - and _, the first a letter or digit';

/**
 * A signing secret: `whsec_` and the padded base64 of 24 to 64 bytes, exactly those that `parseSecret` takes.
 */
export const secretPattern =
  '^whsec_(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{5}[AQgw]==)?$';

/** The key of an account at the partner service. */
export const partnerKeyPattern = '^[!-~]([ -~]{0,510}[!-~])?$';

/** An idempotency key. */
export const idempotencyKeyPattern = '^[ -~]{1,255}$';

/** A status of a filing: any word, because the partner service may have others than this version knows. */
export const statusPattern = '^[^\\u0000-\\u001f\\u007f]+$';

/** The abbreviation of a state, also as the partner service might write it some day. */
export const statePattern = '^[A-Za-z0-9][A-Za-z0-9-]{0,15}$';

/**
 * A line of text with something to read in it: blanks that are no control characters, as `\s` has them, and
 * then another character.
 */
export const linePattern =
  '^[ \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$';

/** The id of a subscription. */
export const subscriptionIdPattern = '^sub_[0-9A-Za-z]{1,64}$';

/** The id of an event. */
export const eventIdPattern = '^evt_[0-9A-Za-z]{1,64}$';

// By what comes before the dot: expressions with fewer branches can be checked for their cost.
const byPrefix = Object.entries(Object.groupBy(eventPatterns, (name) => name.split('.')[0] ?? ''));
const oneType = byPrefix.map(([prefix, names = []]) => {
  const rests = names.flatMap((name) => name.split('.')[1] ?? []);
  const first = prefix.replace('*', String.raw`\*`);
  return rests.length === 0
    ? first
    : String.raw`${first}\.(?:${rests.join('|').replace('*', String.raw`\*`)})`;
});
const eachType = String.raw`\s*(?:${oneType.join('|')})\s*`;

/** Event types in a query, with commas between. */
export const typesPattern = `^${eachType}(?:,${eachType})*$`;

/** The patterns of a `types` filter in a query; null if there is none. */
export function parseTypes(types: string | undefined): string[] | null {
  return types === undefined ? null : types.split(',').map((type) => type.trim());
}

/** The message about a text that does not match a pattern of the API's schemas, by that pattern. */
export const patternWords: ReadonlyMap<string, (text: string) => string> = new Map([
  [accountNamePattern, () => `must be ${accountNameWords}`],
  [secretPattern, () => 'must be whsec_ and the base64 of 24 to 64 bytes'],
  [partnerKeyPattern, () => 'must be 1 to 512 printable ASCII characters without a space at either end'],
  [idempotencyKeyPattern, () => 'must be 1 to 255 printable ASCII characters'],
  [statusPattern, () => 'must not hold control characters'],
  [linePattern, () => 'must be one line of text that is not blank'],
  [
    subscriptionIdPattern,
    () => 'must be the id of a subscription, such as sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506',
  ],
  [eventIdPattern, () => 'must be the id of an event, such as evt_5f2b3c9d0a1e4f6788990a1b2c3d4e5f'],
  [statePattern, unknownState],
  [typesPattern, unknownType],
]);

/** The message about a text that is no abbreviation of a state. */
export function unknownState(text: string): string {
  return `${quoted(text)} is no abbreviation of a state, e.g. TX`;
}

function unknownType(text: string): string {
  const unknown = parseTypes(text)?.find((type) => !eventPatterns.includes(type)) ?? '';
  return unknownWord(unknown, 'event type', offeredPatterns);
}
