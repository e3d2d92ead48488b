import { hash } from 'node:crypto';

/**
 * A position in an account's log and its timeline, see `log.lua`: enough to find out, also after Redis was
 * set back, how far the log is still the one that it was taken from. An empty timeline is no longer known;
 * its position is then believed.
 */
export interface Checkpoint {
  readonly position: number;
  readonly timeline: string;
}

/** Before the first entry of any log. */
export const logBeginning: Checkpoint = { position: 0, timeline: '' };

const hashLength = 12;
const emptyHash = '0'.repeat(hashLength);

/** Whether two checkpoints of one log are the same. */
export function isSameCheckpoint(a: Checkpoint, b: Checkpoint): boolean {
  return a.position === b.position && a.timeline === b.timeline;
}

/**
 * Whether an entry may come next after a checkpoint. False is certain: Redis was set back between the two
 * reads. Where entries between them were trimmed, or one has no timeline, true only means that there is no
 * sign of that.
 */
export function mayFollow(checkpoint: Checkpoint, entry: Checkpoint & { readonly id: string }): boolean {
  if (entry.position !== checkpoint.position + 1) return entry.position > checkpoint.position;
  if (entry.timeline === '') return true;
  if (checkpoint.timeline === '' && checkpoint.position > 0) return true;
  const former = checkpoint.timeline === '' ? emptyHash : checkpoint.timeline.slice(0, hashLength);
  return hash('sha1', former + entry.id).slice(0, hashLength) === entry.timeline.slice(0, hashLength);
}
