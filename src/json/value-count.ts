const quote = 0x22;
const backslash = 0x5c;
const counted = new Set(Array.from(',[{', (character) => character.charCodeAt(0)));

/**
 * Whether a JSON text has more than `max` values, found without parsing it: every comma and every opening
 * bracket outside of a string announces at most one. The answer for a text that is no JSON means nothing.
 */
export function hasMoreValues(text: string, max: number): boolean {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString && code === backslash) at += 1;
    else if (!isInString && counted.has(code)) values += 1;
    if (values > max) return true;
  }
  return false;
}
