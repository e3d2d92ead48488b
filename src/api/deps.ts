import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginAsync, RawServerDefault } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Account } from '../accounts/account.ts';
import type { Sent } from '../callbacks/send-callback.ts';
import type { EndExpired } from '../delivery/expiry.ts';
import type { Verified } from '../delivery/ownership.ts';
import type { Replayer } from '../delivery/replay/start-replay.ts';
import type { Stores } from '../daemon/parts/stores.ts';
import type { KeyCheck } from '../partner/check-key.ts';
import type { ReadDraft } from '../polling/read-draft.ts';
import type { SearchService } from '../polling/service-search.ts';
import type { UrlVerdict } from '../subscriptions/options/url.ts';
import type { VerificationRule } from '../subscriptions/options/verification.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { ApiLimits } from './access/limits.ts';
import type { Door } from './server/door.ts';

/** Everything that the API needs. The stores fail fast: a request waits for each of their replies. */
export interface ApiDeps extends Stores {
  readonly version: string;
  /** The operator's bearer token. */
  readonly apiToken: string;
  /** Asks the partner service itself for filings whose details are not kept. */
  readonly searchService: SearchService;
  readonly readDraft: ReadDraft;
  readonly replayer: Replayer;
  /**
   * Maximum requests per second to the partner service, and maximum bytes of attempts and dead letters, both
   * per account.
   */
  readonly accountLimits: { readonly maxRps: number; readonly attemptsBytesMax: number };
  /** Maximum number of callbacks in flight that the operator permits a subscription. */
  readonly maxInFlight: number;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Without a logger nothing is logged. */
  readonly logger?: Logger;
  /**
   * Whether callbacks may go to a URL, as it is written; `problem` is a sentence for the client that sent the
   * URL.
   */
  readonly checkUrl: (url: string) => UrlVerdict;
  /** The same for a `mailto:` URL. */
  readonly checkMail: (url: string) => UrlVerdict;
  /** The same after resolving the host name in the URL, for a URL that `checkUrl` permits. */
  readonly checkHost: (url: string, account: string) => Promise<UrlVerdict>;
  /**
   * Why callbacks to a URL now wait for the forward proxy, null for a URL that bypasses it; null if none
   * wait.
   */
  readonly waitsFor: () => Promise<((url: string) => string | null) | null>;
  /** Whether the daemon can keep its promise now; a rejection counts as not ready. */
  readonly readiness: () => Promise<{ readonly ready: boolean; readonly reasons: readonly string[] }>;
  /** Whether restarting the process would help. */
  readonly liveness: () => { readonly live: boolean; readonly reasons: readonly string[] };
  /**
   * Why the content of the store cannot be trusted, or null. Asked before each guarded request; a reason
   * refuses it with 503.
   */
  readonly storeProblem: () => Promise<string | null>;
  readonly metrics: Registry;
  /** Updates gauges before they are printed; if it rejects, they are printed as they are. */
  readonly beforeScrape?: () => Promise<void>;
  readonly hooks: ApiHooks;
  /** Serves `/` and its files. */
  readonly dashboard?: FastifyPluginAsync;
  readonly timing?: Partial<ApiTiming>;
  readonly limits?: Partial<ApiLimits>;
  /**
   * Networks of proxies (CIDR). A request from one of them comes from the last address in its
   * `X-Forwarded-For` that is in none.
   */
  readonly trustedProxies?: readonly string[];
  /** Public address of the page, without a trailing slash; null if it is not known. */
  readonly publicUrl?: string | null;
  /** Whether endpoints must be verified, and which hosts need not (`createVerificationRule`). */
  readonly verificationRule: VerificationRule;
  /** Origins whose pages may show the page in a frame. */
  readonly frameAncestors?: readonly string[];
  /**
   * The door through which the API is served once it is handed over. Without one the instance has a server of
   * its own that does not listen.
   */
  readonly door?: Pick<Door, 'enter' | 'connections'>;
}

/** The other parts of the daemon as the API calls them. */
export interface ApiHooks {
  /** Called when an account's settings are stored: polls follow them from now on. */
  accountSaved(account: Account): Promise<void>;
  /**
   * Asks the partner service once whether it takes the account's key. That it does not, or that the stored
   * key cannot be opened, is the outcome. Rejects when Redis does.
   */
  checkPartner(account: string): Promise<KeyCheck>;
  /** Called when an account is gone from the store: its polls end. */
  accountRemoved(account: string): Promise<void>;
  pollNow(account: string, mode: 'delta' | 'sweep'): Promise<void>;
  /** Called when there may be events to deliver to subscriptions of the account. */
  wake(account: string): Promise<void>;
  readonly endExpired: EndExpired;
  /**
   * Asks the endpoint at once whether it wants the callbacks; `settings` are those of the subscription as
   * stored.
   */
  verify(settings: string, subscription: Subscription): Promise<Verified>;
  /** Sends one `ping` and returns its outcome. */
  ping(subscription: Subscription): Promise<Sent>;
}

/** The default times of the API in milliseconds; tests shorten them. */
export const defaultTiming = {
  /** Milliseconds between two reads of the log's head while a stream follows it. */
  followMs: 250,
  /** Milliseconds between two comments on a quiet event stream, so that proxies keep it open. */
  heartbeatMs: 15_000,
  /** Milliseconds until a stream ends; its client connects again, with a token that must still be valid. */
  streamMs: 900_000,
  /** Milliseconds until an incomplete request is answered 408. */
  requestMs: 10_000,
  /** Milliseconds until a connection without traffic is cut, including streams whose client does not read. */
  idleMs: 30_000,
  /** Milliseconds for which an answer waits for a client that takes it too slowly. */
  unreadMs: 30_000,
};

/** The times of the API. */
export type ApiTiming = typeof defaultTiming;

/**
 * The Fastify instance to which routes are added: bodies, queries and parameters have the types of their
 * schemas.
 */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
