import { accountNamePattern } from '../../accounts/account-store.ts';

/** What the name of an account may be. */
export const accountNameWords = '1 to 64 letters, digits, dots, - and _, the first a letter or digit';

/** A signing secret: `whsec_` and the padded base64 of 24 to 64 bytes, exactly those that `parseSecret` takes. */
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

/** A line of text with something to read in it. */
export const linePattern =
  '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$';

/** What a value must be that does not match a pattern of the API's schemas, by that pattern. */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [accountNamePattern, `must be ${accountNameWords}`],
  [secretPattern, 'must be whsec_ and the base64 of 24 to 64 bytes'],
  [partnerKeyPattern, 'must be 1 to 512 printable ASCII characters without a space at either end'],
  [idempotencyKeyPattern, 'must be 1 to 255 printable ASCII characters'],
  [statusPattern, 'must not hold control characters'],
  [linePattern, 'must be one line of text that is not blank'],
  [statePattern, 'must be the abbreviation of a state, e.g. TX'],
]);
