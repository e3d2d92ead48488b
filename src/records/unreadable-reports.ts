import type { Logger } from 'pino';
import type { Metrics } from '../monitoring/metrics.ts';
import type { OnUnreadable, Remedy, UnreadableFinding } from '../redis/unreadable-record.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';

/**
 * Reports the records that this process could not read: in the log and a metric, and for the health of their
 * account.
 */
export interface UnreadableReports {
  /** Logs and counts a finding, the same one at most once in five minutes. */
  readonly note: OnUnreadable;
  /** A sentence for each finding of an account since the last call. */
  collect(account: string): readonly string[];
}

// Milliseconds within which the same finding is neither logged nor counted again.
const sparinglyMs = 300_000;
// Maximum number of findings that are remembered.
const rememberedMax = 10_000;

const remedies: Readonly<Record<Remedy, string>> = {
  rebuilt: 'it was rebuilt',
  set_aside: 'it was set aside and begins anew',
  left_out: 'it is left out until it is mended or removed',
  stands: 'what needs it stands still',
};

/** Reports findings; `now` is any clock in milliseconds. */
export function createUnreadableReports(
  logger: Logger,
  metrics: Pick<Metrics, 'unreadableRecords'>,
  now: () => number,
): UnreadableReports {
  const loggedAt = createBoundedMap<string, number>(rememberedMax);
  const untaken = new Map<string, Set<string>>();

  function isNew({ key, field, reason, remedy }: UnreadableFinding): boolean {
    const name = JSON.stringify([key, field, reason, remedy]);
    const last = loggedAt.get(name) ?? -Infinity;
    if (now() - last < sparinglyMs) return false;
    loggedAt.set(name, now());
    return true;
  }

  return {
    note(finding) {
      const { account, kind } = finding;
      const sentences = untaken.get(account) ?? new Set();
      untaken.set(account, sentences);
      if (sentences.size < rememberedMax) sentences.add(sentenceOf(finding));
      if (!isNew(finding)) return;
      metrics.unreadableRecords.inc({ kind });
      logger.error(finding, 'record.unreadable');
    },
    collect(account) {
      const taken = [...(untaken.get(account) ?? [])];
      untaken.delete(account);
      return taken;
    },
  };
}

function sentenceOf({ key, field, reason, remedy }: UnreadableFinding): string {
  return `the record ${field === null ? key : `${key} → ${field}`} cannot be read: ${reason}; ${remedies[remedy]}`;
}
