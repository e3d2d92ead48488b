import { setTimeout as delay } from 'node:timers/promises';
import { connectedOnly, MissingRedisError } from './missing-redis.ts';
import { openClient, openSentinels, untilClientReady } from './open-client.ts';
import type { ClientUse, RedisClient } from './open-client.ts';
import { describeRedis, parseRedisUrl } from './redis-url.ts';
import { watchSwitches } from './switch-watch.ts';
import { readTlsFiles } from './tls-files.ts';
import { waitForReplicas, type ReplicaWait } from './wait-replicas.ts';

export type { RedisClient };

/** Redis is lost, with the reason (without a password), or back for all clients. */
export type RedisStateChange = { readonly up: false; readonly reason: string } | { readonly up: true };

/** The options of `createRedisConnections`. */
export type RedisConnectionsOptions = {
  /**
   * Called on a change only: once when Redis is lost, however many errors follow, and once when it is back.
   */
  readonly onStateChange: (change: RedisStateChange) => void;
  /** The name in CLIENT LIST, followed by the use of the client. */
  readonly connectionName: string;
  /** The replicas that commits over `command` and `failFast` wait for; none when left out. */
  readonly replicaWait?: ReplicaWait;
};

/**
 * The process's clients, each created on first use and kept until `close`. All of them reconnect by
 * themselves, for ever.
 */
export type RedisConnections = ReturnType<typeof createRedisConnections>;

// Milliseconds between the pings of `untilAway`.
const askAgainMs = 500;

/**
 * Opens nothing yet. Throws when `url` is not a REDIS_URL as docs/configuration.md describes it; the message
 * does not repeat it; RedisFileError when a file that it names cannot be used.
 */
export function createRedisConnections(url: string, options: RedisConnectionsOptions) {
  const parsed = parseRedisUrl(url);
  if (!parsed.ok) throw new TypeError(`the Redis address ${parsed.problem}`);
  const { address } = parsed;
  const servers = { ...address, tls: address.tls === null ? null : readTlsFiles(address.tls) };
  const outage = createOutage(options.onStateChange);
  const clients = new Map<ClientUse, RedisClient>();
  let endWatch: (() => void) | null = null;
  let ready: Promise<unknown> | null = null;
  const client = (use: ClientUse): RedisClient => {
    const known = clients.get(use);
    if (known !== undefined) return known;
    if (address.kind === 'sentinel')
      endWatch ??= watchSwitches(
        openSentinels(servers, `${options.connectionName}:sentinel`),
        address.masterName,
        () => clients.values(),
      );
    const made = openClient(servers, use, `${options.connectionName}:${use}`);
    clients.set(use, made);
    if (options.replicaWait !== undefined && use !== 'blocking') waitForReplicas(made, options.replicaWait);
    outage.watch(made);
    return made;
  };
  const close = async (deadlineMs = 2_000): Promise<void> => {
    outage.stopWatching();
    endWatch?.();
    await Promise.all([...clients.values()].map((each) => closeClient(each, deadlineMs)));
  };
  return {
    /** The address without user and password. */
    describe: describeRedis(address),
    /**
     * For stores and scripts. A command is sent at most once. It rejects when the connection breaks or 10 s
     * pass without a reply; whether Redis carried it out is then unknown. A command given while Redis is away
     * waits at most for the next attempt to connect.
     */
    command: () => client('command'),
    /**
     * For the API: as `command`, but it rejects at once without a connection, and after 1.5 s without a
     * reply.
     */
    failFast: () => client('failFast'),
    /**
     * For the scripts of BullMQ workers, which outlive outages because they are sent again. Workers open
     * another client beside it to wait for jobs.
     */
    blocking: () => client('blocking'),
    /** For subscriptions to channels with `listenTo`, which subscribes again after each outage. */
    listening: () => client('listening'),
    /**
     * Resolves when `command` and `failFast` answer; rejects with MissingRedisError after `timeoutMs`. May be
     * called again.
     */
    async untilReady(timeoutMs: number): Promise<void> {
      const needed = [client('command'), client('failFast')];
      ready ??= Promise.all(needed.map(untilClientReady)).finally(() => (ready = null));
      const inTime = await withDeadline(ready, timeoutMs);
      if (inTime) return;
      // A server that is loading its data does not report it to a client that only connects.
      const isMute = needed.some(({ status }) => status === 'connect');
      throw new MissingRedisError(describeRedis(address), isMute ? connectedOnly : outage.reason());
    },
    /** Why Redis is away for one of the clients, for `explainMissing`, or null if it is away for none. */
    whyAway: outage.present,
    /** Resolves when Redis does not answer a regular ping any more, or when `signal` aborts. */
    untilAway: (signal: AbortSignal) => untilAway(client('failFast'), signal),
    /**
     * Waits up to `deadlineMs` (default 2000) for replies under way, then cuts every connection. Never
     * rejects.
     */
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

async function untilAway(client: RedisClient, signal: AbortSignal): Promise<void> {
  try {
    for (; !signal.aborted; await delay(askAgainMs, undefined, { signal })) await client.ping();
  } catch {
    // Redis is away, or the signal aborted.
  }
}

async function closeClient(client: RedisClient, deadlineMs: number): Promise<void> {
  if (client.status === 'ready') await withDeadline(client.quit(), deadlineMs).catch(() => false);
  if (client.status !== 'end') client.disconnect();
}

async function withDeadline(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), deadlineMs);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Notices when clients lose Redis and when they have it back. `onStateChange` is called when the first of the
 * watched clients loses Redis, and when the last one has it back.
 */
function createOutage(onStateChange: (change: RedisStateChange) => void) {
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
    watch(client: RedisClient): void {
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
    /** Ends the reports: connections that end from now on are meant to end. */
    stopWatching(): void {
      watching = false;
    },
    /** Why Redis was last away; never contains a password. */
    reason: () => reason,
    /** Why Redis is away for a client, or null if it is away for none. Never contains a password. */
    present: () => (down.size === 0 ? null : reason),
  };
}

// Errors of commands that found no connection: why there is none was known before.
function isConsequence(message: string): boolean {
  return message === 'Connection is closed.' || message.startsWith("Stream isn't writeable");
}
