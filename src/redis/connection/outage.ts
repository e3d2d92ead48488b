import type { RedisClient } from './open-client.ts';

/** Redis is lost, with the reason (without a password), or back for all clients. */
export type RedisStateChange = { readonly up: false; readonly reason: string } | { readonly up: true };

/** Notices when clients lose Redis and when they have it back. */
export type Outage = {
  watch(client: RedisClient): void;
  /** Ends the reports: connections that end from now on are meant to end. */
  stopWatching(): void;
  /** Why Redis was last away; never contains a password. */
  reason(): string;
  /** Why Redis is away for a client now; null while it is for none. Never contains a password. */
  present(): string | null;
};

/**
 * `onStateChange` is called when the first of the watched clients loses Redis, and when the last one has it
 * back.
 */
export function createOutage(onStateChange: (change: RedisStateChange) => void): Outage {
  const down = new Set<RedisClient>();
  let reason = 'no connection yet';
  let watching = true;
  const lost = (client: RedisClient, why: string, isCause: boolean): void => {
    if (!watching) return;
    if (isCause || down.size === 0) reason = why;
    if (down.has(client)) return;
    down.add(client);
    if (down.size === 1) onStateChange({ up: false, reason });
  };
  return {
    watch(client) {
      // The error of a cluster or a sentinel client only states that no server answers; these events hold the
      // cause.
      let cause: string | null = null;
      for (const event of ['node error', 'sentinelError']) {
        client.on(event, (error: Error) => {
          if (!isConsequence(error.message)) cause = error.message;
        });
      }
      client.on('error', (error: Error) =>
        lost(client, cause ?? error.message, cause !== null || !isConsequence(error.message)),
      );
      client.on('close', () => lost(client, cause ?? 'the connection was closed', false));
      client.on('ready', () => {
        cause = null;
        if (watching && down.delete(client) && down.size === 0) onStateChange({ up: true });
      });
    },
    stopWatching() {
      watching = false;
    },
    reason: () => reason,
    present: () => (down.size === 0 ? null : reason),
  };
}

// Errors of commands that found no connection: why there is none was known before.
function isConsequence(message: string): boolean {
  return message === 'Connection is closed.' || message.startsWith("Stream isn't writeable");
}
