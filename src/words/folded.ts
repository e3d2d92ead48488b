/**
 * A text as it is compared with others: case, forms of Unicode and invisible characters make no difference,
 * and a Turkish i is an i. Not to be shown. Pure.
 */
export function folded(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text.toLowerCase();
  // Unicode's NFKC_Casefold. Upper case in between makes ss of ß; ẞ has none.
  const lower = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return lower.replaceAll(/\p{DI}|(?<=i)\u0307/gu, '').normalize('NFKC');
}
