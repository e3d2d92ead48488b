import { Cluster, Redis } from 'ioredis';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { describeRedis, parseRedisUrl } from './redis-url.ts';
import type { RedisAddress } from './redis-url.ts';

/** A connected client, of one server or of a cluster. */
export type RedisClient = Redis | Cluster;

/** Lost, and why (no password in it), or there again for all clients. */
export type RedisStateChange = { readonly up: false; readonly reason: string } | { readonly up: true };

/** What `createRedisConnections` needs. */
export type RedisConnectionsOptions = {
  /** Called on a change only: once when Redis is lost, however many errors follow, and once when it is back. */
  readonly onStateChange: (change: RedisStateChange) => void;
  /** Shown by CLIENT LIST, followed by what the client is for. */
  readonly connectionName: string;
};

/** The process's clients, each made when first asked for and kept until `close`. All of them reconnect by themselves, for ever. */
export type RedisConnections = AsyncDisposable & {
  /** The address without user and password. */
  readonly describe: string;
  /**
   * For stores and scripts. A command is sent at most once: when the connection breaks or 10 s pass without a reply it rejects, and
   * whether Redis carried it out is unknown. A command given while Redis is away waits for the next attempt to connect at most.
   */
  command(): RedisClient;
  /** For the API: as `command`, but nothing waits: without a connection it rejects at once, without a reply after 1.5 s. */
  failFast(): RedisClient;
  /** For BullMQ workers, whose blocking reads outlive outages; BullMQ duplicates it as it needs. */
  blocking(): RedisClient;
  /** Resolves when `command` and `failFast` answer; rejects after `timeoutMs` with the last reason. */
  untilReady(timeoutMs: number): Promise<void>;
  /** Waits up to `deadlineMs` (default 2000) for replies under way, then cuts every connection. Never rejects. */
  close(deadlineMs?: number): Promise<void>;
};

type Use = 'command' | 'failFast' | 'blocking';

// Reply mapping decides the type of a client; left alone, replies keep their RESP2 shapes.
type NodeOptions = Omit<RedisOptions, 'replyMapping'>;

const reconnectDelayMs = (attempt: number): number => Math.min(attempt * 100, 2_000);

const neverResent = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false };

const optionsOf: Record<Use, NodeOptions> = {
  // Resending what may already have been carried out would append an event twice; with 0 retries a lost reply rejects.
  command: { ...neverResent, commandTimeout: 10_000, socketTimeout: 15_000 },
  failFast: { ...neverResent, commandTimeout: 1_500, socketTimeout: 3_000, enableOfflineQueue: false },
  blocking: { maxRetriesPerRequest: null },
};

/** Opens nothing yet. Throws when `url` is not a REDIS_URL as docs/configuration.md describes it; the message does not repeat it. */
export function createRedisConnections(url: string, options: RedisConnectionsOptions): RedisConnections {
  const parsed = parseRedisUrl(url);
  if (!parsed.ok) throw new TypeError(`the Redis address ${parsed.problem}`);
  const { address } = parsed;
  const outage = createOutage(options.onStateChange);
  const clients = new Map<Use, RedisClient>();
  const client = (use: Use): RedisClient => {
    const known = clients.get(use);
    if (known !== undefined) return known;
    const made = connect(address, use, `${options.connectionName}:${use}`);
    clients.set(use, made);
    outage.watch(made);
    return made;
  };
  const close = async (deadlineMs = 2_000): Promise<void> => {
    outage.stopWatching();
    await Promise.all([...clients.values()].map((each) => closeClient(each, deadlineMs)));
  };
  return {
    describe: describeRedis(address),
    command: () => client('command'),
    failFast: () => client('failFast'),
    blocking: () => client('blocking'),
    async untilReady(timeoutMs) {
      const needed = [client('command'), client('failFast')];
      const inTime = await withDeadline(Promise.all(needed.map(untilClientReady)), timeoutMs);
      if (!inTime) throw new Error(`no answer from ${describeRedis(address)}: ${outage.reason()}`);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

function connect(address: RedisAddress, use: Use, connectionName: string): RedisClient {
  const { nodes, db, masterName } = address;
  const shared: NodeOptions = {
    ...optionsOf[use],
    connectionName,
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(address.tls ? { tls: {} } : {}),
  };
  if (address.kind === 'cluster') return connectCluster(nodes, clusterOptions(use, shared, address.tls));
  const reconnecting = { retryStrategy: reconnectDelayMs, reconnectOnError: reconnectOnReadOnly };
  if (address.kind === 'single') return new Redis({ ...shared, ...reconnecting, ...nodes[0], db });
  return new Redis({
    ...shared,
    ...reconnecting,
    sentinels: [...nodes],
    name: masterName,
    sentinelRetryStrategy: reconnectDelayMs,
    ...(address.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  });
}

function connectCluster(nodes: RedisAddress['nodes'], options: ReturnType<typeof clusterOptions>): Cluster {
  const cluster = new Cluster([...nodes], options);
  // Left to itself, a node is connected by the first command for it, and without an offline queue those right behind that are refused.
  cluster.on('+node', (node: Redis) => {
    node.connect().catch(() => undefined);
  });
  return cluster;
}

function clusterOptions(use: Use, shared: NodeOptions, tls: boolean) {
  const { enableOfflineQueue = true, ...redisOptions } = shared;
  const options = {
    redisOptions,
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    // A command whose node went away is not sent again, for the reason given at `command`.
    ...(use === 'blocking' ? {} : { retryDelayOnFailover: 0 }),
    // Certificates name hosts; without resolving them here they are compared with names, not with addresses.
    ...(tls ? { dnsLookup: keepName } : {}),
  };
  return options satisfies ClusterOptions;
}

const keepName: NonNullable<ClusterOptions['dnsLookup']> = (host, callback) => callback(null, host);

/** After a failover the old master refuses writes; a new connection finds the new one. What it refused had no effect, so 2 = send again. */
function reconnectOnReadOnly(error: Error): false | 2 {
  return error.message.startsWith('READONLY') ? 2 : false;
}

function createOutage(onStateChange: RedisConnectionsOptions['onStateChange']) {
  const down = new Set<RedisClient>();
  let reason = 'no connection yet';
  let watching = true;
  const lost = (client: RedisClient, why: string, isCause: boolean): void => {
    if (!watching) return;
    const isKnown = down.has(client);
    if (isCause || !isKnown) reason = why;
    if (isKnown) return;
    down.add(client);
    if (down.size === 1) onStateChange({ up: false, reason });
  };
  return {
    watch(client: RedisClient): void {
      client.on('error', (error: Error) => lost(client, reasonOf(error), true));
      client.on('close', () => lost(client, 'the connection was closed', false));
      client.on('ready', () => {
        if (watching && down.delete(client) && down.size === 0) onStateChange({ up: true });
      });
    },
    stopWatching(): void {
      watching = false;
    },
    reason: () => reason,
  };
}

/** Only the text: the error itself may carry the AUTH command. A cluster tells what its last node said. */
function reasonOf(error: Error & { lastNodeError?: Error | null }): string {
  return error.lastNodeError?.message ?? error.message;
}

async function untilClientReady(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  if (client instanceof Cluster) await Promise.all(client.nodes('master').map(untilClientReady));
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
