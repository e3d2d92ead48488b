import type { Logger } from 'pino';
import { toUnreadable } from '../redis/unreadable-record.ts';

// Milliseconds in which an error of the same text is logged once.
const quietMs = 60_000;

/** Logs an error once a minute per text: while Redis is away, thousands of the same come. */
export function logSparingly(logger: Logger, now: () => number): (error: Error) => void {
  const loggedAt = new Map<string, number>();
  return (error) => {
    // Redis reports that a command does not suit what a key holds, and not which key.
    const { message } = toUnreadable(error) ?? error;
    const last = loggedAt.get(message) ?? -Infinity;
    if (now() - last < quietMs) return;
    if (loggedAt.size > 1000) loggedAt.clear();
    loggedAt.set(message, now());
    logger.error({ error: message, code: (error as { code?: unknown }).code }, 'background.error');
  };
}
