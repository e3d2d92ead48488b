/**
 * A text as it is compared with others, as the daemon compares them (src/words/folded.ts); pure.
 * @param {string} text
 */
export function folded(text) {
  const lower = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return lower.replaceAll(/\p{DI}|(?<=i)\u0307/gu, '').normalize('NFKC');
}
