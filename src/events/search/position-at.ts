import type { EventLog } from '../event-log.ts';
import { logBeginning, type Checkpoint } from '../timeline.ts';

// Number of entries that one step of the search looks at.
const probesAtOnce = 15;

/**
 * The position of the last event recorded before `time` (ms, Redis's clock), or the position before the first
 * event if none is older. Found by a search among positions: five steps in a million events. If the clock was
 * set back in between, it is one of the positions at which the time is passed.
 */
export async function positionBefore(
  log: Pick<EventLog, 'head' | 'outlineAfter' | 'outlineAt'>,
  account: string,
  time: number,
): Promise<Checkpoint> {
  const head = await log.head(account);
  const [oldest] = await log.outlineAfter(account, 0, 1);
  if (oldest === undefined) return head;
  if (oldest.recordedAt >= time) return { ...logBeginning, position: oldest.position - 1 };
  // Events up to `low` are older, those from `high` on are not.
  let low: Checkpoint = oldest;
  let high = head.position + 1;
  while (high - low.position > 1) {
    const probes = spread(low.position, high);
    const found = await log.outlineAt(account, probes);
    // Events that were trimmed meanwhile are older than all that is left.
    const isOlder = (i: number) => (found[i]?.recordedAt ?? -Infinity) < time;
    const first = probes.findIndex((_, i) => !isOlder(i));
    const last = (first < 0 ? probes.length : first) - 1;
    if (first >= 0) high = probes[first] ?? high;
    if (last >= 0) low = { position: probes[last] ?? low.position, timeline: found[last]?.timeline ?? '' };
  }
  return { position: low.position, timeline: low.timeline };
}

// Positions between the two, at equal distances.
function spread(low: number, high: number): number[] {
  const step = Math.max(1, Math.ceil((high - low) / (probesAtOnce + 1)));
  const probes: number[] = [];
  for (let position = low + step; position < high; position += step) probes.push(position);
  return probes;
}
