import type { EventLog, LogEntry, OutlinedEntry } from '../../events/event-log.ts';
import { fitting } from '../../events/timeline.ts';
import type { FilterJudge } from './judge.ts';
import type { Selecting } from './selection.ts';
import { chooseAmong } from './wanted-entries.ts';

/** The part of the latest events that a subscription with some settings would have got. */
export interface Preview {
  /** Number of events that it wants. */
  readonly matched: number;
  /** Number of events that were looked at. */
  readonly of: number;
  /** Number of events that it would get because its filter cannot decide. */
  readonly undecided: number;
  /** The latest of the events that it wants. */
  readonly samples: readonly LogEntry[];
}

export interface PreviewDeps {
  readonly log: Pick<EventLog, 'head' | 'outlineBefore' | 'load'>;
  readonly judge: FilterJudge;
}

// Maximum number of events that are read at a time.
const entriesAtOnce = 200;
// Maximum bytes of bodies that one preview reads: ten thousand ordinary events have half of that.
const bytesMax = 32 * 1024 * 1024;
// Maximum number of samples, and bytes of their bodies.
const samplesMax = 5;
const sampleBytesMax = 1024 * 1024;

/** Judges the latest `last` events of a log (`chooseAmong`), or fewer if their bodies exceed 32 MiB. */
export async function previewEvents(
  { log, judge }: PreviewDeps,
  account: string,
  selecting: Selecting,
  last: number,
): Promise<Preview> {
  let [of, matched, undecided, bytes] = [0, 0, 0, 0];
  const sampled: OutlinedEntry[] = [];
  const { filter = null } = selecting;
  let before = (await log.head(account)).position + 1;
  while (of < last && bytes < bytesMax) {
    const found = await log.outlineBefore(account, before, Math.min(entriesAtOnce, last - of));
    const entries = filter === null ? found : fitting(found, bytesMax - bytes);
    if (entries.length === 0) break;
    of += entries.length;
    before = entries.at(-1)?.position ?? before;
    if (filter !== null) bytes += entries.reduce((sum, entry) => sum + entry.bytes, 0);
    for await (const [entry, choice] of chooseAmong({ log, judge }, account, selecting, entries)) {
      if (choice === 'undecided') undecided += 1;
      if (choice === 'wanted') matched += 1;
      if (choice === 'wanted' && sampled.length < samplesMax) sampled.push(entry);
    }
  }
  const samples = (await log.load(account, fitting(sampled, sampleBytesMax))).filter(
    (entry) => entry !== null,
  );
  return { matched, of, undecided, samples };
}
