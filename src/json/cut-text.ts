/**
 * The first `max` characters (code units of UTF-16) of a text; one fewer where the cut would leave half of a
 * pair of surrogates; pure.
 */
export function cutText(text: string, max: number): string {
  const isHalved = text.length > max && (text.charCodeAt(max - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalved ? max - 1 : max);
}
