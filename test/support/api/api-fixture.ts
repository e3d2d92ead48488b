import { Registry } from 'prom-client';
import type { StoredState } from '../../../src/filings/detection/filing-state.ts';
import type { FilingCommit } from '../../../src/filings/detection/decide-commit.ts';
import { createAccountStore } from '../../../src/accounts/account-store.ts';
import { createTokenStore } from '../../../src/accounts/token-store.ts';
import { createApi } from '../../../src/api/api.ts';
import type { ApiDeps, ApiHooks } from '../../../src/api/deps.ts';
import { createDeliveryStore } from '../../../src/delivery/store/delivery-store.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { checkCallbackUrl } from '../../../src/egress/url-policy.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { createLogOutline } from '../../../src/events/log-outline.ts';
import { createLagReader } from '../../../src/subscriptions/lag.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { isLookedFor } from '../../../src/filings/detection/filing-details.ts';
import { createCountHistory } from '../../../src/filings/count-history.ts';
import { createFilingListStore } from '../../../src/filings/filing-list-store.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { createDocumentCheck } from './documented.ts';
import type { ApiDocument } from './documented.ts';
import { createSubscriptionStore } from '../../../src/subscriptions/subscription-store.ts';

/** The operator's token in tests of the API. */
export const operatorToken = 'operator-token-of-the-tests-0123456789';

/** A body for PUT of an account. */
export const accountInput = { baseUrl: 'http://127.0.0.1:4010/v1', partnerKey: 'sandbox-key' };

/** A URL that the tests' egress policy permits. */
export const hookUrl = 'http://127.0.0.1:9000/hook';

/** The API on real stores, called without a network; the hooks note what they are asked for. */
export type ApiFixture = Awaited<ReturnType<typeof createApiFixture>>;

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** A list read to its end. */
export interface Listing<T> {
  readonly items: T[];
  readonly lengths: number[];
}

/** An answer, its body parsed when it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** Builds the API over `redis` with keys under `prefix`; `overrides` replace what it is given. */
export async function createApiFixture(redis: RedisClient, prefix: string, overrides: Partial<ApiDeps> = {}) {
  const keys = createKeys(prefix);
  const sealer = createSealer([{ id: 'test', key: Buffer.alloc(32, 7) }]);
  const calls: unknown[][] = [];
  const policy = createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] });
  const log = createEventLog(redis, keys);
  const deps: ApiDeps = {
    version: '0.0.0-test',
    apiToken: operatorToken,
    accounts: createAccountStore({
      redis,
      keys,
      sealer,
      defaults: { pollIntervalMs: 15_000, sweepIntervalMs: 900_000 },
    }),
    tokens: createTokenStore(redis, keys),
    snapshot: createSnapshotStore(redis, keys),
    filings: createFilingListStore(redis, keys),
    countHistory: createCountHistory(redis, keys),
    polling: createPollingStore(redis, keys),
    log,
    lags: createLagReader({ log, outline: createLogOutline(redis, keys) }),
    subscriptions: createSubscriptionStore(redis, keys, sealer),
    delivery: createDeliveryStore(redis, keys, (now) => now - 3_600_000),
    partnerMaxRps: 10,
    now: Date.now,
    checkUrl: (url) => checkCallbackUrl(url, { allowHttp: true, policy }),
    readiness: async () => ({ ready: true, reasons: [] }),
    liveness: () => ({ live: true, reasons: [] }),
    storeProblem: async () => null,
    readQueues: async () => [],
    metrics: new Registry(),
    hooks: notingHooks(calls),
    ...overrides,
  };
  const app = await createApi(deps);
  await app.ready();
  const undocumented = createDocumentCheck(app.swagger() as unknown as ApiDocument);

  async function call(
    method: string,
    url: string,
    body?: unknown,
    { token = operatorToken, headers = {} }: { token?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await app.inject({
      method,
      url,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const contentType = String(answer.headers['content-type']);
    const differences = undocumented({
      method,
      url,
      status: answer.statusCode,
      contentType,
      text: answer.body,
    });
    if (differences.length > 0) throw new Error(`not as documented: ${differences.join('; ')}`);
    const isJson = /json/.test(contentType);
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson && answer.body !== '' ? answer.json<Record<string, unknown>>() : {},
      text: answer.body,
    };
  }

  /** `call` that throws unless the answer is a 2xx; returns its body. */
  async function ok(method: string, url: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await call(method, url, body);
    if (answer.status > 299) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** Every item of a list and the length of each of its pages, following its cursors. */
  async function listAll<T>(url: string, query: Record<string, string> = {}): Promise<Listing<T>> {
    const items: T[] = [];
    const lengths: number[] = [];
    let cursor: string | null = null;
    do {
      const parameters = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) });
      // Each page's cursor comes from the page before.
      // oxlint-disable-next-line no-await-in-loop
      const page = (await ok('GET', `${url}?${parameters.toString()}`)) as unknown as Page<T>;
      items.push(...page.items);
      lengths.push(page.items.length);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return { items, lengths };
  }

  async function createAccount(account: string): Promise<string> {
    await ok('PUT', `/v1/accounts/${account}`, accountInput);
    return `/v1/accounts/${account}`;
  }

  /** Puts filings into the snapshot as a poll does; with a type, also an event of the change into the log. */
  async function putFilings(account: string, filings: readonly PutFiling[]): Promise<void> {
    const stored = await deps.accounts.get(account);
    const { generation } = await deps.polling.begin(account, stored?.incarnation ?? '');
    const known = await deps.snapshot.read(
      account,
      filings.map(({ id }) => id),
    );
    await deps.snapshot.commit(
      account,
      generation,
      filings.map((filing, i) => toCommit(account, filing, known[i] ?? null)),
      Date.now(),
    );
  }

  return { app, deps, keys, calls, call, ok, listAll, createAccount, putFilings };
}

/** A filing to be put into the snapshot. */
export interface PutFiling {
  readonly id: string;
  readonly status: string;
  readonly type?: string;
  readonly removed?: boolean;
  readonly document?: Record<string, unknown>;
}

function toCommit(account: string, filing: PutFiling, previous: StoredState | null): FilingCommit {
  const { id, status, type, removed = false, document = { id, status } } = filing;
  const sequence = (previous?.state.sequence ?? 0) + (type === undefined ? 0 : 1);
  const at = Date.now();
  const after = { status, completedAt: null, rejectionReason: null, removed };
  const event =
    type === undefined
      ? null
      : buildFilingEvent({
          account,
          generation: 'g',
          filingId: id,
          type,
          sequence,
          before: previous?.state ?? null,
          after,
          changed: ['status'],
          inferred: false,
          notBefore: at - 1,
          notAfter: at,
          document,
        });
  const details = {
    policyNumber: `P-${id}`,
    insuredsName: 'Acme',
    stateAbbr: 'TX',
    filingType: 'NEW_BUSINESS',
    premium: 12.5,
  };
  const next = { ...after, sequence, since: at, readFrom: at, readAt: at };
  return { id, previous, next, details: isLookedFor(next) ? details : null, event };
}

/** Hooks that only note how they were called. */
function notingHooks(calls: unknown[][]): ApiHooks {
  return {
    accountSaved: async ({ account }) => void calls.push(['accountSaved', account]),
    accountRemoved: async (account) => void calls.push(['accountRemoved', account]),
    pollNow: async (account, mode) => void calls.push(['pollNow', account, mode]),
    wake: async (account, id) => void calls.push(['wake', account, id]),
    async ping({ id }) {
      calls.push(['ping', id]);
      return {
        outcome: { kind: 'retry', code: 'http_error', sent: true, reason: 'The receiver answered 500.' },
        statusCode: 500,
        durationMs: 12,
        response: 'no',
      };
    },
    async replay(account, id, request) {
      calls.push(['replay', account, id, request]);
      return { id: 'rpl_1', matched: 3 };
    },
    replayProgress: async (_account, _id, replay) =>
      replay === 'rpl_1'
        ? {
            id: replay,
            state: 'running',
            matched: 3,
            delivered: 1,
            failed: 0,
            createdAt: Date.UTC(2026, 10, 21),
          }
        : null,
  };
}
