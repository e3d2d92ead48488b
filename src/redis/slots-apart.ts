import keySlot from 'cluster-key-slot';

// Number of slots of a Redis Cluster.
const slots = 16_384;
// Number of tags among which the nearest are looked for: each third of the slots has some forty of them.
const tagsMax = 128;
const tags = Array.from({ length: tagsMax }, (_, tag) => ({ tag: String(tag), slot: keySlot(String(tag)) }));

/**
 * Two hash tags whose slots are about a third and two thirds of all slots beyond that of an account; pure. An
 * account has the same tags in every process and version. If each primary of a cluster has an equal range of
 * slots, at least one of the tags is on another primary than the account's keys. After one slot has moved to
 * another primary, this still holds for three primaries or more.
 */
export function tagsApart(account: string): readonly string[] {
  const slot = keySlot(`{${account}}`);
  return [1, 2].map((third) => nearestTag((slot + Math.round((slots * third) / 3)) % slots));
}

function nearestTag(slot: number): string {
  let nearest = tags[0];
  for (const each of tags)
    if (nearest === undefined || distance(each.slot, slot) < distance(nearest.slot, slot)) nearest = each;
  return nearest?.tag ?? '0';
}

// The slots are a ring: the last one lies beside the first.
function distance(a: number, b: number): number {
  const between = Math.abs(a - b);
  return Math.min(between, slots - between);
}
