import type { Cursor } from '../../subscriptions/cursor.ts';
import type { ReplaySource } from '../replay/replay-source.ts';
import type { Lanes } from '../schedule/lanes.ts';
import type { SendScheduler } from '../schedule/scheduler.ts';
import type { EndpointFields, ProgressFields, Settlement } from '../store/settle-arguments.ts';
import type { LogReader } from './log-reader.ts';

/** The changes of a drain's delivery state, so that only they are written. */
export interface StateChanges {
  /** Removes and returns the fields that changed since the last call, as they are at a time (ms). */
  remove(at: number): Pick<Settlement, 'progress' | 'endpoint'>;
  /** The endpoint's fields removed so far were not written: all of them count as changed. */
  forgetEndpoint(): void;
}

/** Parts of the state that other parts of the drain know; times in milliseconds, 0 = never. */
export interface ChangingState {
  readonly snapshotsLeft: ReplaySource['snapshotsLeft'];
  readonly undecided: () => string | null;
  /** When the rate allows another attempt. */
  readonly throttledUntil: () => number;
  /** Until when the subscription rests because of its rate. */
  readonly restsUntil: () => number;
}

/** All fields count as changed at first. */
export function createStateChanges(
  cursor: Cursor,
  lanes: Lanes,
  scheduler: SendScheduler,
  reader: LogReader,
  { snapshotsLeft, undecided, throttledUntil, restsUntil }: ChangingState,
): StateChanges {
  let progress: ProgressFields | null = null;
  let endpoint: EndpointFields | null = null;
  return {
    remove(at) {
      const former = { progress, endpoint };
      const position = cursor.position();
      const timeline = reader.timelineAt(position);
      const snapshots = snapshotsLeft();
      const health = scheduler.health();
      progress = {
        cursor: position,
        timeline,
        done: cursor.done(),
        parked: lanes.parked(),
        snapshots,
        undecided: undecided(),
      };
      endpoint = {
        ...health,
        throttledUntil: throttledUntil(),
        restsUntil: Math.max(health.pausedUntil, restsUntil()),
        nextAttemptAt: scheduler.nextDueAt(at) ?? 0,
        release: false,
        releasedAt: scheduler.releasedAt(),
        settledAt: at,
      };
      return {
        progress: changedFields(progress, former.progress),
        endpoint: changedFields(endpoint, former.endpoint),
      };
    },
    forgetEndpoint() {
      endpoint = null;
    },
  };
}

// The fields that are not as they were last written, all of them when that is null. Lists count by their
// items.
function changedFields<T extends object>(fields: T, written: T | null): Partial<T> {
  if (written === null) return fields;
  const changed: Partial<T> = {};
  for (const name in fields) if (!isSame(fields[name], written[name])) changed[name] = fields[name];
  return changed;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => item === b[i]);
}
