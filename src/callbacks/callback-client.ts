import type { buildConnector, Client } from 'undici';
import { createCallbackConnector } from './connector.ts';
import { failedBeforehand, runExchange } from './exchange.ts';
import type { CallbackResult } from './result.ts';
import { createConnectionPool, createSocketWatch } from './connection-pool.ts';
import type { EgressPolicy } from '../egress/address-policy.ts';
import { createHostLookup } from '../names/host-lookup.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { checkCallbackUrl, type UrlRules } from '../egress/url-policy.ts';
import { createUnderWay } from './under-way.ts';
import { createBoundedMap } from '../memory/bounded-map.ts';

/**
 * One callback to send. `headers` have passed checkCustomHeaders, or are the daemon's own with names in lower
 * case.
 */
interface CallbackRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The account among whose lookups the host name counts; none for the daemon's own. */
  readonly account?: string;
}

/** Sends callbacks. */
export interface CallbackClient {
  /**
   * Sends one POST and resolves to its result; failures of receiver and network are values. A request on a
   * kept connection that the receiver has closed meanwhile is sent once more on a new one: its webhook-id
   * makes that safe (RFC 9110 §9.2.2). Rejects only when close() ends it, which is no attempt, although the
   * receiver may have got the request.
   */
  post(request: CallbackRequest): Promise<CallbackResult>;
  /**
   * Ends every callback in flight, and each later one at once, as a failure `aborted`. A response whose
   * headers have arrived counts. A process that ends can then still write the results of its callbacks.
   */
  abortAll(): void;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

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
}

const keptSocketsDefault = 2048;
// Maximum number of accounts whose connectors are kept, each with its TLS sessions.
const connectorsMax = 4_000;

const responseHeaderBytesMax = 16_384;
const keepAliveDefaultMs = 4000;
const keepAliveMaxMs = 25_000;

/**
 * The one client that sends callbacks. It vets the URL on every post and every address at dial, follows no
 * redirect, reads no proxy environment and decompresses nothing. It does not limit connections per host:
 * subscriptions that share a host must not wait for each other. Each subscription has a limit of its own.
 */
export function createCallbackClient(options: CallbackClientOptions): CallbackClient {
  const { timeoutMs, userAgent, lookup = createHostLookup() } = options;
  const { keptSocketsMax = keptSocketsDefault } = options;
  const sockets = createSocketWatch();
  const connecting = {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: responseHeaderBytesMax,
    keepAliveTimeout: keepAliveDefaultMs,
    keepAliveMaxTimeout: keepAliveMaxMs,
    // The exchange has one deadline for everything; undici's own deadlines restart with every byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const connectors = createBoundedMap<string, buildConnector.connector>(connectorsMax);
  function optionsFor(account: string): Client.Options {
    const known = connectors.get(account);
    if (known !== undefined) return { ...connecting, connect: known };
    const owner = `callbacks ${account}`;
    const connect = createCallbackConnector({ ...options, lookup, owner, onSocket: sockets.add });
    connectors.set(account, connect);
    return { ...connecting, connect };
  }
  const pool = createConnectionPool(optionsFor, keptSocketsMax);
  const targetOf = rememberTargets(options);
  const underWay = createUnderWay();
  let isOver = false;
  return {
    post({ url, headers, body, account = '' }) {
      if (isOver) return Promise.resolve(failedBeforehand('aborted'));
      const target = targetOf(url);
      if (target === null) return Promise.resolve(failedBeforehand('blocked_address'));
      const request = {
        ...target,
        account,
        method: 'POST' as const,
        headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
        body,
      };
      return runExchange((handler) => pool.dispatch(request, handler), {
        timeoutMs,
        underWay,
        again: (handler, error) => {
          const stale = sockets.wasReused(error);
          if (stale) pool.dial(request, handler);
          return stale;
        },
      });
    },
    abortAll() {
      isOver = true;
      underWay.abortAll();
    },
    close: pool.destroy,
  };
}

/** The destination of a URL; null when it may not be called. */
type Target = { readonly origin: string; readonly path: string } | null;

const targetsMax = 20_000;

/** Judges each URL once: the verdict on a text never changes, and judging costs as much as signing. */
function rememberTargets(rules: UrlRules): (text: string) => Target {
  const known = createBoundedMap<string, Target>(targetsMax);
  return (text) => {
    const judged = known.get(text);
    if (judged !== undefined) return judged;
    const checked = checkCallbackUrl(text, rules);
    const target = checked.ok
      ? { origin: checked.url.origin, path: checked.url.pathname + checked.url.search }
      : null;
    known.set(text, target);
    return target;
  };
}
