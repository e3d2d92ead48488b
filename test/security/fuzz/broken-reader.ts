/** Throws for inputs that begin with four certain bytes: one input in four billion. */
export function checkMagic(input: Buffer): void {
  if (input[0] !== 0x7b) return;
  if (input[1] !== 0x39) return;
  if (input[2] !== 0x25) return;
  if (input[3] !== 0x7e) return;
  throw new Error('a bug');
}

/** Goes through the letters `a` with which an input begins. */
export function searchLong(input: Buffer): void {
  let at = 0;
  while (input[at] === 0x61) at += 1;
}
