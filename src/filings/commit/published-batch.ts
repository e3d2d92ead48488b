import type { Checkpoint } from '../../events/timeline.ts';
import type { FilingCommit } from '../detection/decide-commit.ts';

/** A filing's event as the process that committed it publishes it. */
export interface PublishedEvent {
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** The commits of one script, as they are published to other processes. */
export interface PublishedBatch {
  readonly account: string;
  readonly generation: string;
  /** The newest event in the log after the batch. */
  readonly head: Checkpoint;
  readonly events: readonly PublishedEvent[];
}

/** The commits of a batch that are published. */
interface OutlinedBatch extends Omit<PublishedBatch, 'events'> {
  readonly commits: readonly FilingCommit[];
}

/** A batch in outline, as it is published by a process. */
export function outlineOf(process: string, { account, generation, head, commits }: OutlinedBatch): string {
  const events = commits.map(({ id, next }) => [id, next.sequence, next.status]);
  return JSON.stringify([process, account, generation, head.position, head.timeline, events]);
}

/** The batch that `outlineOf` has written; null for any other text. */
export function parsePublished(text: string): { by: string; batch: PublishedBatch } | null {
  const list = parseList(text);
  const [by, account, generation, position, timeline, events] = list;
  const isBatch = [by, account, generation, timeline].every((value) => typeof value === 'string');
  if (!isBatch || typeof position !== 'number' || !Array.isArray(events)) return null;
  const outlined = (events as [string, number, string][]).map(([filingId, sequence, status]) => ({
    filingId,
    sequence,
    status,
  }));
  const head = { position, timeline: String(timeline) };
  const batch = { account: String(account), generation: String(generation), head, events: outlined };
  return { by: String(by), batch };
}

function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as unknown[]) : [];
  } catch {
    return [];
  }
}
