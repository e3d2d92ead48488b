/** @import { Token } from '../../api-types.ts' */

/**
 * The tokens that are revoked with a token: those that it made, and those that they made; pure.
 * @param {readonly Token[]} tokens
 * @param {string} id
 * @returns {Token[]}
 */
export function descendants(tokens, id) {
  const children = tokens.filter(({ parent }) => parent === id);
  return children.flatMap((child) => [child, ...descendants(tokens, child.id)]);
}
