import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import keySlot from 'cluster-key-slot';
import { Cluster, Redis } from 'ioredis';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import type { RedisAddress } from './redis-url.ts';
import type { TlsMaterial } from './tls-files.ts';

/** A client, of one server or of a cluster. */
export type RedisClient = Redis | Cluster;

/** An address with the contents of its TLS files, which are null without TLS. */
export type RedisServers = Omit<RedisAddress, 'tls'> & { readonly tls: TlsMaterial | null };

/** The uses of a client; `RedisConnections` describes them. */
export type ClientUse = 'command' | 'failFast' | 'blocking' | 'listening';

// Reply mapping decides the type of a client; left alone, replies keep their RESP2 shapes.
type NodeOptions = Omit<RedisOptions, 'replyMapping'>;

const reconnectDelayMs = (attempt: number): number => Math.min(attempt * 100, 2_000);

// Maximum milliseconds without a byte while a command waits for its reply. A stalled server keeps its
// connections, so only time shows it.
const silenceMs = 5_000;
// Milliseconds between pings on every connection; without them an idle connection would be found dead only
// when it is needed.
const askMs = 1_000;

// Maximum milliseconds for the answer of a sentinel, after which the next one is asked.
const sentinelMs = 2_000;

const neverResent = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false };

const optionsOf: Record<ClientUse, NodeOptions> = {
  // A command that was sent again could append an event twice; with 0 retries a lost reply rejects.
  command: { ...neverResent, commandTimeout: 10_000 },
  failFast: { ...neverResent, commandTimeout: 1_500, socketTimeout: 3_000, enableOfflineQueue: false },
  blocking: { maxRetriesPerRequest: null },
  // ioredis would subscribe again by itself, but nothing catches its failure, which ends the process.
  listening: { maxRetriesPerRequest: null, commandTimeout: silenceMs, autoResubscribe: false },
};

// A host that accepts connections and does not answer is given up just as early: `socketTimeout` bounds the
// handshake.
const connectMs = 5_000;
const patience = { connectTimeout: connectMs, socketTimeout: silenceMs, disconnectTimeout: 500 };

/**
 * A new client that begins to connect. It never gives up, and reports errors by its `error` event only. A
 * server that is silent for five seconds is taken for dead on every connection, used or not.
 */
export function openClient(servers: RedisServers, use: ClientUse, connectionName: string): RedisClient {
  // Of this process: Node gives each address of a name but the last 250 ms, and then gives it up.
  setDefaultAutoSelectFamilyAttemptTimeout(connectMs / 2);
  const client = connect(servers, use, connectionName);
  keepAsking(client);
  return client;
}

/**
 * Opens a client of the server that holds a key, with the options of another client and its own name, for
 * blocking reads shorter than five seconds. Its errors are swallowed. If the key moves to another server,
 * commands are refused. Throws if a cluster does not know the server at present.
 */
export function openNode(client: RedisClient, key: string, connectionName: string): Redis {
  const node = client instanceof Cluster ? ownerOf(client, key) : client;
  if (node === null) throw new Error('the cluster has no primary for a key at present');
  return node.duplicate({ connectionName }).on('error', () => undefined);
}

/**
 * The master that has the slot of a key, as far as the client knows, or null if none has. The client records
 * the target of a redirection before the reply arrives.
 */
export function ownerOf(cluster: Cluster, key: string): Redis | null {
  const [owner] = cluster.slots[keySlot(key)] ?? [];
  const isOwner = ({ options }: Redis) => `${options.host}:${options.port}` === owner;
  return cluster.nodes('master').find(isOwner) ?? null;
}

/** A client of each sentinel that an address names; for listening to them. Their errors are swallowed. */
export function openSentinels(servers: RedisServers, connectionName: string): Redis[] {
  return servers.nodes.map((node) => {
    const options = { ...patience, ...optionsOf.listening, ...accessTo(servers, servers.sentinel), ...node };
    // The ready check wants INFO, which a user of sentinels may lack.
    const sentinel = new Redis({
      ...options,
      connectionName,
      retryStrategy: reconnectDelayMs,
      enableReadyCheck: false,
    });
    keepAsking(sentinel);
    return sentinel.on('error', () => undefined);
  });
}

/**
 * Subscribes a client to a channel, and again over each further connection. Rejects when Redis refuses, or
 * does not answer; a failure over a further connection only shows in that nothing is heard.
 */
export async function listenTo(client: RedisClient, channel: string): Promise<void> {
  client.on('ready', () => {
    client.subscribe(channel).catch(() => undefined);
  });
  await client.subscribe(channel);
}

/** The number of the database that a client works in; 0 in a cluster. */
export function databaseOf(client: RedisClient): number {
  return client instanceof Cluster ? 0 : (client.options.db ?? 0);
}

function connect(servers: RedisServers, use: ClientUse, connectionName: string): RedisClient {
  const { kind, nodes, path, db, masterName, sentinel } = servers;
  const access = accessTo(servers, servers);
  const shared: NodeOptions = { ...patience, ...optionsOf[use], ...access, connectionName };
  if (kind === 'cluster') return connectCluster(nodes, clusterOptions(use, shared));
  const isReadOnly = createReadOnlyPace(() => performance.now());
  // A refused command had no effect, so 2 = send again over the next connection.
  const reconnectOnError = (error: Error): false | 2 => (isReadOnly(error) ? 2 : false);
  const reconnecting = { retryStrategy: reconnectDelayMs, reconnectOnError };
  const place = kind === 'socket' ? { path } : nodes[0];
  if (kind !== 'sentinel') return stayOutOfOthers(new Redis({ ...shared, ...reconnecting, ...place, db }));
  return new Redis({
    ...shared,
    ...reconnecting,
    sentinels: [...nodes],
    name: masterName,
    sentinelRetryStrategy: reconnectDelayMs,
    sentinelCommandTimeout: sentinelMs,
    ...(sentinel.username === null ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === null ? {} : { sentinelPassword: sentinel.password }),
    ...(access.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: access.tls }),
  });
}

// TLS and the credentials of the servers or of the sentinels.
function accessTo({ tls }: RedisServers, { username, password }: RedisServers['sentinel']) {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { tls }),
  };
}

/**
 * Gives up a connection whose SELECT is refused, and tries again later: ioredis would go on in database 0,
 * which may be another deployment's.
 */
function stayOutOfOthers(client: Redis): Redis {
  return client.on('error', (error: Error & { command?: { name?: string } }) => {
    if (error.command?.name === 'select') client.disconnect(true);
  });
}

function connectCluster(nodes: RedisAddress['nodes'], options: ReturnType<typeof clusterOptions>): Cluster {
  const cluster = new TimedCluster([...nodes], options);
  // By default the first command for a node connects it, and without an offline queue the next ones are
  // refused.
  cluster.on('+node', (node: Redis) => {
    node.connect().catch(() => undefined);
  });
  return cluster;
}

function keepAsking(client: RedisClient): void {
  const timer = setInterval(() => {
    for (const node of client instanceof Cluster ? client.nodes() : [client])
      if (node.status === 'ready') node.ping().catch(() => undefined);
  }, askMs);
  timer.unref();
  client.once('end', () => clearInterval(timer));
}

function clusterOptions(use: ClientUse, shared: NodeOptions) {
  const { enableOfflineQueue = true, ...redisOptions } = shared;
  const options = {
    redisOptions,
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    // A command whose node went away is not sent again, for the reason given at `command`.
    ...(use === 'blocking' || use === 'listening' ? {} : { retryDelayOnFailover: 0 }),
    // Certificates name hosts; without resolving them here they are compared with names, not with addresses.
    ...(shared.tls === undefined ? {} : { dnsLookup: keepName }),
  };
  return options satisfies ClusterOptions;
}

const keepName: NonNullable<ClusterOptions['dnsLookup']> = (host, callback) => callback(null, host);

// Milliseconds between two looks at the clients of a cluster's primaries.
const lookAgainMs = 20;

/** Resolves when the client (in a cluster: every master) accepts commands; waits for ever if need be. */
export async function untilClientReady(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  if (!(client instanceof Cluster)) return;
  // A failover may replace a primary meanwhile, whose client then never gets ready.
  while (client.status !== 'end' && client.nodes('master').some(({ status }) => status !== 'ready'))
    await delay(lookAgainMs);
}

/**
 * A cluster client whose `commandTimeout` counts from the moment a command is given, as it does with a single
 * server. In ioredis it begins when a node gets the command, so a command given while the client looks for
 * the cluster would wait without end. A command that has timed out is not sent any more.
 */
class TimedCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (stream === undefined && command.isSettled) return command.promise;
    const timeout = this.options.redisOptions?.commandTimeout;
    if (timeout !== undefined) command.setTimeout(timeout);
    return super.sendCommand(command, stream, node);
  }
}

// Minimum milliseconds between two connections that are given up for a refused write.
const readOnlyMs = 500;

/**
 * Decides for one client whether its connection is given up because a server refused a write as read-only:
 * after a failover a new connection finds the new master. At most twice a second, since a server may stay a
 * replica. `now` counts milliseconds.
 */
export function createReadOnlyPace(now: () => number): (error: Error) => boolean {
  let givenUpAt = -Infinity;
  return ({ message }) => {
    if (!message.startsWith('READONLY') || now() - givenUpAt < readOnlyMs) return false;
    givenUpAt = now();
    return true;
  };
}
