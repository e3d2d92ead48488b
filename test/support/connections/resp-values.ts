const lineEnd = '\r\n';
const bulks = '$=!';
const lists = '*~>';
const maps = '%|';

/**
 * Splits what came over a connection into whole RESP2 or RESP3 values and the rest, of which more is to come;
 * pure.
 */
export function splitValues(bytes: Buffer): { readonly values: Buffer[]; readonly rest: Buffer } {
  const values: Buffer[] = [];
  let from = 0;
  for (let to = endOfValue(bytes, from); to !== null; to = endOfValue(bytes, from)) {
    values.push(bytes.subarray(from, to));
    from = to;
  }
  return { values, rest: bytes.subarray(from) };
}

/** Whether a value answers no request: RESP3 servers send it by themselves. */
export function isPush(value: Buffer): boolean {
  return value.toString('latin1', 0, 1) === '>';
}

/** The name of the command that a request sends, in capitals. */
export function commandOf(request: Buffer): string {
  return (request.toString('latin1', 0, 100).split(lineEnd)[2] ?? '').toUpperCase();
}

// Null while a part of it is missing.
function endOfValue(bytes: Buffer, start: number): number | null {
  let at = start;
  for (let missing = 1; missing > 0; missing -= 1) {
    const end = bytes.indexOf(lineEnd, at);
    if (end === -1) return null;
    const type = bytes.toString('latin1', at, at + 1);
    const count = Number(bytes.toString('latin1', at + 1, end));
    at = end + lineEnd.length;
    if (bulks.includes(type) && count >= 0) at += count + lineEnd.length;
    if (lists.includes(type)) missing += Math.max(0, count);
    if (maps.includes(type)) missing += 2 * count;
  }
  return at <= bytes.length ? at : null;
}
