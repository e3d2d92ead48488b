import type { Logger } from 'pino';
import { toUnreadable } from '../redis/unreadable-record.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';

// Milliseconds in which errors of the same text are logged once.
const quietMs = 60_000;
// Maximum number of texts in memory.
const textsMax = 1_000;

/** Logs an error once a minute per text: while Redis is away, there are thousands of the same. */
export function logSparingly(logger: Logger, now: () => number): (error: Error) => void {
  const loggedAt = createBoundedMap<string, number>(textsMax);
  return (error) => {
    // Redis reports that a command does not fit the type of a key, without naming the key.
    const { message } = toUnreadable(error) ?? error;
    const last = loggedAt.get(message) ?? -Infinity;
    if (now() - last < quietMs) return;
    loggedAt.set(message, now());
    logger.error({ error: message, code: (error as { code?: unknown }).code }, 'background.error');
  };
}
