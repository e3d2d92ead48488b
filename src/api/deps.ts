import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginAsync, RawServerDefault } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { AccountStore } from '../accounts/account-store.ts';
import type { Account } from '../accounts/account.ts';
import type { SessionStore } from '../accounts/session-store.ts';
import type { TokenStore } from '../accounts/token-store.ts';
import type { UnsoundAccounts } from '../accounts/unsound-accounts.ts';
import type { Sent } from '../callbacks/send-callback.ts';
import type { ReadAttempt } from '../delivery/attempts/attempt-detail.ts';
import type { AttemptList } from '../delivery/attempts/attempt-list.ts';
import type { ReadDelivery } from '../delivery/attempts/event-deliveries.ts';
import type { OpenTold } from '../delivery/attempts/told.ts';
import type { EndExpired } from '../delivery/expiry.ts';
import type { Verified } from '../delivery/ownership.ts';
import type { Replayer } from '../delivery/replay/start-replay.ts';
import type { Journal } from '../delivery/store/journal.ts';
import type { EventLog } from '../events/event-log.ts';
import type { FindEvents } from '../events/search/find-events.ts';
import type { SearchLog, SectionTypes } from '../events/search/log-sections.ts';
import type { CountHistory } from '../filings/count-history.ts';
import type { Answers } from '../filings/answers.ts';
import type { FilingListStore } from '../filings/lists/filing-list-store.ts';
import type { RejectingAccounts } from '../filings/rejecting-accounts.ts';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { ReadDueRules } from '../filings/detection/due-dates.ts';
import type { TriageStore } from '../filings/triage-store.ts';
import type { KeyCheck } from '../partner/check-key.ts';
import type { ReadDraft } from '../polling/read-draft.ts';
import type { SearchService } from '../polling/service-search.ts';
import type { PollingStore } from '../polling/store/polling-store.ts';
import type { ReadQuota } from '../redis/quota/account-quota.ts';
import type { FilterJudge } from '../subscriptions/content-filter/judge.ts';
import type { ReadLags } from '../subscriptions/lag.ts';
import type { UrlVerdict } from '../subscriptions/options/url.ts';
import type { VerificationRule } from '../subscriptions/options/verification.ts';
import type { PublishedKeys } from '../subscriptions/public-keys.ts';
import type { SubscriptionStore } from '../subscriptions/store/subscription-store.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { GateLimits } from './access/dear-requests.ts';
import type { Rate } from './access/limits.ts';
import type { Door } from './server/door.ts';

/** Everything that the API needs. The stores fail fast: a request waits for each of their replies. */
export interface ApiDeps {
  readonly version: string;
  /** The operator's bearer token. */
  readonly apiToken: string;
  readonly accounts: AccountStore;
  readonly unsound: UnsoundAccounts;
  readonly rejecting: Pick<RejectingAccounts, 'all'>;
  readonly tokens: TokenStore;
  readonly sessions: SessionStore;
  readonly quota: ReadQuota;
  readonly snapshot: SnapshotStore;
  readonly filings: FilingListStore;
  readonly answers: Pick<Answers, 'read' | 'answeredBy'>;
  readonly triage: TriageStore;
  readonly readDueRules: ReadDueRules;
  /** Asks the partner service itself for filings whose details are not kept. */
  readonly searchService: SearchService;
  readonly readDraft: ReadDraft;
  readonly countHistory: Pick<CountHistory, 'read'>;
  readonly polling: PollingStore;
  readonly log: EventLog;
  readonly sections: SearchLog<SectionTypes>;
  readonly findEvents: FindEvents;
  readonly subscriptions: SubscriptionStore;
  readonly publicKeys: PublishedKeys;
  readonly journal: Pick<Journal, 'list'>;
  readonly attempts: AttemptList;
  readonly readAttempt: ReadAttempt;
  readonly readDelivery: ReadDelivery;
  readonly openTold: OpenTold;
  readonly replayer: Replayer;
  readonly lags: ReadLags;
  /** Judges events by the filters of subscriptions. */
  readonly judge: FilterJudge;
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
  /** The same after a look at where the name in the URL leads, for a URL that `checkUrl` permits. */
  readonly checkHost: (url: string, account: string) => Promise<UrlVerdict>;
  /**
   * Why callbacks to a URL wait for the forward proxy now, null for one that passes by it; null while none
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
  /** Address of the page as others open it, without a slash at its end; null where it is not known. */
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

/** Limits on requests and connections; each process counts by itself. Tests lower them. */
export interface ApiLimits {
  /** Requests to guarded routes without a valid token, per address. */
  readonly failures: Rate;
  /** Requests to routes that need no token, those for health left out, per address. */
  readonly open: Rate;
  /** Requests with one account token. */
  readonly token: Rate;
  /** Requests with all tokens of one account. */
  readonly account: Rate;
  /** Polls that the tokens of one account ask for. */
  readonly polls: Rate;
  /** Notes on filings by the tokens of one account, each with its event. */
  readonly notes: Rate;
  /** Dear requests that read much of Redis, or have many certificates. */
  readonly scans: GateLimits;
  /** Dear requests that send much of Redis at the pace of their client. */
  readonly exports: GateLimits;
  /** Dear requests that wait for a receiver. */
  readonly calls: GateLimits;
  /**
   * Maximum number of event streams at once: of one account token, and of all tokens of an account. All
   * streams together have at most half of the connections, those of one account three quarters of that.
   */
  readonly streams: { readonly perToken: number; readonly perAccount: number };
  /** Maximum number of open connections, including streams and probes. One more replaces another. */
  readonly connections: number;
}

/** Times of the API in milliseconds; tests shorten them. */
export interface ApiTiming {
  /** Milliseconds between two reads of the log's head while a stream follows it. */
  readonly followMs: number;
  /** Milliseconds between two comments on a quiet event stream, so that proxies keep it open. */
  readonly heartbeatMs: number;
  /** Milliseconds until a stream ends; its client connects again, with a token that must still be valid. */
  readonly streamMs: number;
  /** Milliseconds until an incomplete request is answered 408. */
  readonly requestMs: number;
  /** Milliseconds until a connection without traffic is cut, including streams whose client does not read. */
  readonly idleMs: number;
  /** Milliseconds for which an answer waits for a client that takes it too slowly. */
  readonly unreadMs: number;
}

/** The default times. */
export const defaultTiming: ApiTiming = {
  followMs: 250,
  heartbeatMs: 15_000,
  streamMs: 900_000,
  requestMs: 10_000,
  idleMs: 30_000,
  unreadMs: 30_000,
};

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
