/**
 * The first `max` characters (code units of UTF-16) of a text, or one fewer if the cut would split a
 * surrogate pair; pure.
 */
export function cutText(text: string, max: number): string {
  const isHalved = text.length > max && (text.charCodeAt(max - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHalved ? max - 1 : max);
}

/** A text of at most `max` characters: a longer one is cut and ends in an ellipsis; pure. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${cutText(text, max - 1)}…` : text;
}
