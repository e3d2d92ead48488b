import { createHash } from 'node:crypto';

/**
 * Where an account stands among the others, in [0, 1): always the same for one name, evenly spread over many;
 * pure.
 */
export function staggerOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE(0) / 2 ** 32;
}
