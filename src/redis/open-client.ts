import { Cluster, Redis } from 'ioredis';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import type { RedisAddress } from './redis-url.ts';
import { restoreStringMethods } from './string-methods.ts';

/** A client, of one server or of a cluster. */
export type RedisClient = Redis | Cluster;

/** What a client is for; `RedisConnections` says what that means. */
export type ClientUse = 'command' | 'failFast' | 'blocking' | 'listening';

// Reply mapping decides the type of a client; left alone, replies keep their RESP2 shapes.
type NodeOptions = Omit<RedisOptions, 'replyMapping'>;

const reconnectDelayMs = (attempt: number): number => Math.min(attempt * 100, 2_000);

const neverResent = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false };

const optionsOf: Record<ClientUse, NodeOptions> = {
  // Resending what may already have been carried out would append an event twice; with 0 retries a lost reply rejects.
  command: { ...neverResent, commandTimeout: 10_000, socketTimeout: 15_000 },
  failFast: { ...neverResent, commandTimeout: 1_500, socketTimeout: 3_000, enableOfflineQueue: false },
  blocking: { maxRetriesPerRequest: null },
  listening: { maxRetriesPerRequest: null },
};

/** A new client that begins to connect. It never gives up, and tells of errors by its `error` event only. */
export function openClient(address: RedisAddress, use: ClientUse, connectionName: string): RedisClient {
  restoreStringMethods();
  const { nodes, db, masterName } = address;
  const shared: NodeOptions = {
    ...optionsOf[use],
    connectionName,
    disconnectTimeout: 500,
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
    // A master that stalled and comes back takes writes until it is demoted; who hears of its successor does not go on with it.
    failoverDetector: true,
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

function clusterOptions(use: ClientUse, shared: NodeOptions, tls: boolean) {
  const { enableOfflineQueue = true, ...redisOptions } = shared;
  const options = {
    redisOptions,
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    // A command whose node went away is not sent again, for the reason given at `command`.
    ...(use === 'blocking' || use === 'listening' ? {} : { retryDelayOnFailover: 0 }),
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

/** Resolves when the client, in a cluster every master, can take commands; waits for ever if need be. */
export async function untilClientReady(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', () => resolve()));
  if (client instanceof Cluster) await Promise.all(client.nodes('master').map(untilClientReady));
}
