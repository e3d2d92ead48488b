import { createHash } from 'node:crypto';

/**
 * An account's fixed share in [0, 1), which spreads the polls of many accounts over time; pure.
 */
export function staggerOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE(0) / 2 ** 32;
}
