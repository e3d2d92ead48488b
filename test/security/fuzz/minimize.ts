/**
 * A smaller input for which `stillFails`, found by leaving out ever smaller parts; the input itself where
 * none does.
 */
export function minimize(input: Buffer, stillFails: (smaller: Buffer) => boolean): Buffer {
  let smallest = input;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < smallest.length;) {
      const smaller = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      if (stillFails(smaller)) smallest = smaller;
      else at += size;
    }
  }
  return smallest;
}
