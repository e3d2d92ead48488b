import type { Logger } from 'pino';
import { createBoundedMap } from '../memory/bounded-map.ts';
import { createKeys } from '../redis/keys.ts';
import type { OnUnreadable, Remedy, UnreadableRecordError } from '../redis/unreadable-record.ts';
import type { Metrics } from './metrics.ts';

// Milliseconds within which the same record is neither logged nor counted again.
const sparinglyMs = 300_000;
// Maximum number of records, and of accounts with such records, that are remembered.
const rememberedMax = 10_000;
// Maximum number of records that the health of an account shows.
const sentencesMax = 10;

const remedies: Readonly<Record<Remedy, string>> = {
  set_aside: 'it was set aside and begins anew',
  left_out: 'it is left out until it is repaired or removed',
  stands: 'what needs it stands still',
};

/**
 * Reports the records that this process could not read: in the log and a metric, and for the health of their
 * account. `now` is any clock in milliseconds.
 */
export function createUnreadableReports(
  logger: Logger,
  metrics: Pick<Metrics, 'unreadableRecords'>,
  now: () => number,
) {
  const loggedAt = createBoundedMap<string, number>(rememberedMax);
  const found = createBoundedMap<string, Set<string>>(rememberedMax);
  return {
    /** Logs and counts a record, the same one at most once in five minutes. */
    note(...[account, error, remedy]: Parameters<OnUnreadable>): void {
      const sentence = `${error.message}; ${remedies[remedy]}`;
      const sentences = found.get(account) ?? new Set();
      found.set(account, sentences);
      if (sentences.size < sentencesMax) sentences.add(sentence);
      if (now() - (loggedAt.get(sentence) ?? -Infinity) < sparinglyMs) return;
      loggedAt.set(sentence, now());
      const { key, field, reason } = error;
      const kind = kindOf(error);
      metrics.unreadableRecords.inc({ kind });
      logger.error({ account, kind, key, field, reason, remedy }, 'record.unreadable');
    },
    /** A sentence for each record of an account since the last call; empty without any. */
    collect(account: string): string {
      const sentences = [...(found.get(account) ?? [])];
      found.delete(account);
      return sentences.join('. ');
    },
  };
}

function nameOf(key: string): string {
  if (key.includes(':witness:')) return 'witness';
  return key.replace(/^.*\}:/, '').replace(/^(sub|idempotency):[^:]*/, '$1');
}

/**
 * The kinds of records, as logs and metrics name them: the keys of an account without their prefix, account
 * and ids, two that belong to no account, and `other` if Redis does not say which key it was.
 */
export const recordKinds: readonly string[] = [
  'accounts',
  'witness',
  ...keysOfAccount().map(nameOf),
  'other',
];

function keysOfAccount(): string[] {
  const { base: _, idempotency, subscription, ...names } = createKeys('p').account('a');
  return [
    ...Object.values<string>(names),
    idempotency('h'),
    ...Object.values<string>({ ...subscription('s') }),
  ];
}

function kindOf({ key }: UnreadableRecordError): string {
  const name = nameOf(key);
  const kind = key.endsWith(':accounts') ? 'accounts' : name;
  return recordKinds.includes(kind) ? kind : 'other';
}
