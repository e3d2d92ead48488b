import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { createConnectionPool, type PooledRequest } from './connections/connection-pool.ts';
import { createCallbackConnector } from './connections/connector.ts';
import type { EgressPolicy } from '../egress/address-policy.ts';
import { checkCallbackUrl, type UrlRules } from '../egress/url-policy.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';
import { createCounts } from '../memory/counts.ts';
import { createHostLookup, type HostLookup } from '../names/host-lookup.ts';
import { ProxyError } from '../proxy/proxy-error.ts';
import type { Tunnels } from '../proxy/tunnels.ts';
import {
  failedBeforehand,
  runExchange,
  type Abortable,
  type ExchangeRequest,
  type ExchangeWays,
} from './exchange.ts';
import { failureOf, type CallbackResult } from './result.ts';
import type { ConnectionIdentity } from '../subscriptions/options/tls.ts';

/**
 * One callback to send. `headers` have passed checkCustomHeaders, or are the daemon's own with names in lower
 * case.
 */
interface CallbackRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Milliseconds for the whole callback; the client's limit if null or missing. */
  readonly timeoutMs?: number | null;
  /** The account that the lookup of the host counts towards; none for the daemon's own. */
  readonly account?: string;
  /** Maximum milliseconds, applied only if lower than the client's limit. */
  readonly timeoutMsMax?: number;
  /** Maximum bytes of the response body that are kept: 1 KiB without it. */
  readonly excerptBytesMax?: number;
  /** The identity of its connection; none is that of all plain https endpoints. */
  readonly identity?: ConnectionIdentity | undefined;
}

/** Sends callbacks. */
export type CallbackClient = ReturnType<typeof createCallbackClient>;

/**
 * `timeoutMs` bounds a whole callback, connecting and response body included. `ca` (PEM) replaces the
 * certificates trusted for https. `keptSocketsMax` is the maximum number of idle connections kept for reuse:
 * ten thousand subscribers do not mean ten thousand idle connections.
 */
export interface CallbackClientOptions {
  readonly policy: EgressPolicy;
  readonly allowHttp: boolean;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly lookup?: HostLookup;
  readonly ca?: string;
  readonly keptSocketsMax?: number;
  /** Tunnels through the forward proxy; without them all is dialled directly. */
  readonly tunnels?: Tunnels | undefined;
}

const keptSocketsDefault = 2048;
// Number of TLS connections being opened at which no more begin. Each keeps the process from all else for up
// to two milliseconds.
const openingMax = 32;
// Milliseconds after which a connection being opened makes way for others: it waits for another machine.
const openingMs = 100;

const connectionOptions = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: 16_384,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 25_000,
  // The exchange has one deadline for everything; undici's own deadlines restart with every byte.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/**
 * The one client that sends callbacks. It vets the URL on every post and every address at dial, follows no
 * redirect, reads no proxy environment and decompresses nothing. It does not limit connections per host:
 * subscriptions that share a host must not wait for each other. Each subscription has a limit of its own.
 */
export function createCallbackClient(options: CallbackClientOptions) {
  const { timeoutMs, userAgent, lookup = createHostLookup(), tunnels } = options;
  const pool = createConnectionPool({
    options: connectionOptions,
    connector: createCallbackConnector({ ...options, lookup }),
    freeMax: options.keptSocketsMax ?? keptSocketsDefault,
  });
  const opening = new PQueue({ concurrency: openingMax });
  const waiting = createCounts();
  const targetOf = rememberTargets(options);
  const underWay: Abortable[] = [];
  let isOver = false;

  const ways: ExchangeWays<PostedRequest> = {
    dispatch: pool.dispatch,
    again(request, handler) {
      if (!request.isReused) return false;
      // Its turn to connect has ended with the first connection.
      pool.dial({ ...request, onConnected: undefined }, handler);
      return true;
    },
    underWay,
  };

  // Its deadline begins with its connection: that this process is busy is no failure of the endpoint.
  // Accounts whose connections wait take turns.
  function inTurn(request: PostedRequest): Promise<CallbackResult> {
    const { account } = request;
    const { promise, resolve, reject } = Promise.withResolvers<CallbackResult>();
    waiting.add(account);
    const open = async () => {
      waiting.remove(account);
      if (isOver) return resolve(failedBeforehand('aborted'));
      const connected = Promise.withResolvers<void>();
      runExchange(ways, { ...request, onConnected: connected.resolve }).then(resolve, reject);
      await Promise.race([connected.promise, delay(openingMs, undefined, { ref: false })]);
    };
    void opening.add(open, { priority: -waiting.of(account) });
    return promise;
  }

  return {
    /**
     * Sends one request and resolves to its result; failures of receiver and network are values. A request on
     * a kept connection that the receiver has closed meanwhile is sent once more on a new one: its webhook-id
     * makes that safe (RFC 9110 §9.2.2). Rejects only when close() ends it, which is no attempt, although the
     * receiver may have got the request.
     */
    post(asked: CallbackRequest): Promise<CallbackResult> {
      const { url, headers, body, account = '', identity, timeoutMs: own } = asked;
      const { timeoutMsMax = Infinity, excerptBytesMax } = asked;
      if (isOver) return Promise.resolve(failedBeforehand('aborted'));
      const target = targetOf(url);
      if (target === null) return Promise.resolve(failedBeforehand('blocked_address'));
      const { origin, path, isTls } = target;
      if (identity !== undefined && !isTls) return Promise.resolve(failedBeforehand('tls_error'));
      const request: PostedRequest = {
        origin,
        path,
        account,
        identity,
        method: 'POST',
        headers: headerList(userAgent, headers),
        body,
        timeoutMs: Math.min(own ?? timeoutMs, timeoutMsMax),
        excerptBytesMax,
        dialled: [],
        isReused: false,
      };
      const result = isTls && !pool.hasFree(request) ? inTurn(request) : runExchange(ways, request);
      return tunnels === undefined ? result : result.then((each) => blameProxy(tunnels, url, each));
    },
    /**
     * Ends every callback in flight, and each later one at once, as a failure `aborted`. A response whose
     * headers have arrived counts. A process that ends can then still write the results of its callbacks.
     */
    abortAll(): void {
      isOver = true;
      for (const exchange of underWay.slice()) exchange.abort();
    },
    /** Closes all connections at once. */
    close: pool.destroy,
  };
}

/** A request with the bounds of its exchange. */
interface PostedRequest extends PooledRequest, ExchangeRequest {}

/** Names and values by turns, as undici takes them with the least work. */
function headerList(userAgent: string, headers: CallbackRequest['headers']): string[] {
  const { 'content-type': type = 'application/json' } = headers;
  const list = ['user-agent', headers['user-agent'] ?? userAgent, 'content-type', type];
  for (const name in headers)
    if (name !== 'user-agent' && name !== 'content-type') list.push(name, headers[name] ?? '');
  return list;
}

/**
 * Attributes the failure of a callback to the proxy if the proxy caused it. If there was no connection by the
 * deadline, the proxy had not opened it. A connection that broke before a response is the proxy's failure if
 * the proxy is gone: its end must not cost an attempt.
 */
async function blameProxy(tunnels: Tunnels, url: string, result: CallbackResult): Promise<CallbackResult> {
  if (result.kind === 'response' || !tunnels.takesUrl(url)) return result;
  const { code, sent, durationMs } = result;
  const late = code === 'timeout' && !sent ? new ProxyError('silent') : null;
  const error = code === 'connection_reset' ? await tunnels.check() : late;
  return error === null ? result : { kind: 'failure', ...failureOf(error, false), durationMs };
}

/** The destination of a URL, or null if calling it is not permitted. */
type Target = { readonly origin: string; readonly path: string; readonly isTls: boolean } | null;

const targetsMax = 20_000;

/** Judges each URL once: the verdict on a text never changes, and judging costs as much as signing. */
function rememberTargets(rules: UrlRules): (text: string) => Target {
  const known = createBoundedMap<string, Target>(targetsMax);
  return (text) => {
    const judged = known.get(text);
    if (judged !== undefined) return judged;
    const checked = checkCallbackUrl(text, rules);
    const target = checked.ok ? toTarget(checked.url) : null;
    known.set(text, target);
    return target;
  };
}

function toTarget({ origin, pathname, search, protocol }: URL): Target {
  return { origin, path: pathname + search, isTls: protocol === 'https:' };
}
