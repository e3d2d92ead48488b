import type { ReplayRequest } from './replay.ts';
import type { ReplayRecord } from './replay-store.ts';

/**
 * The progress of a replay. `delivered` and `failed` need not add up to `matched`, which includes events that
 * are passed over later and, in very long logs, events that do not match.
 */
export interface ReplayProgress {
  readonly id: string;
  readonly request: ReplayRequest;
  /** Only of a snapshot, which delivers the filings as they are. */
  readonly source?: 'filings';
  readonly state: 'running' | 'finished' | 'cancelled';
  readonly matched: number;
  readonly delivered: number;
  /** Given up once more. */
  readonly failed: number;
  /** Milliseconds on Redis's clock. */
  readonly createdAt: number;
}

/** The progress of a stored replay; pure. */
export function progressOf({ replay, state }: ReplayRecord): ReplayProgress {
  const { id, request, source, matched, createdAt } = replay;
  const { delivered, failed, finished, cancelled = false } = state;
  const word = cancelled ? 'cancelled' : finished ? 'finished' : 'running';
  const about = { id, request, ...(source === undefined ? {} : { source }) };
  return { ...about, state: word, matched, delivered, failed, createdAt };
}
