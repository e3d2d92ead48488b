// Multiplier of the linear congruential generator that the paper uses.
const multiplier = 2_862_933_555_777_941_757n;
const mask = 0xffff_ffff_ffff_ffffn;

/**
 * The shard of an account among `count` of them, 0 to `count` - 1; pure. The same name has the same shard in
 * every process and version. One more shard takes its share from all others and moves nothing else (jump
 * consistent hash, Lamping and Veach 2014).
 */
export function shardOf(account: string, count: number): number {
  if (count <= 1) return 0;
  let key = hashOf(account);
  let shard = 0;
  for (let next = 0; next < count;) {
    shard = next;
    key = (key * multiplier + 1n) & mask;
    next = Math.floor((shard + 1) * (2 ** 31 / (Number(key >> 33n) + 1)));
  }
  return shard;
}

// FNV-1a with 64 bits.
function hashOf(name: string): bigint {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (const byte of Buffer.from(name)) hash = ((hash ^ BigInt(byte)) * 0x100_0000_01b3n) & mask;
  return hash;
}
