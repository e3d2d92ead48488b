import { randomBytes } from 'node:crypto';
import type { InjectOptions } from 'fastify';
import { Registry } from 'prom-client';
import { createAccountStore } from '../../../src/accounts/account-store.ts';
import { createTokenStore } from '../../../src/accounts/token-store.ts';
import { createApi } from '../../../src/api/api.ts';
import type { ApiDeps, ApiHooks } from '../../../src/api/deps.ts';
import { createDeliveryStore } from '../../../src/delivery/delivery-store.ts';
import { createEgressPolicy } from '../../../src/delivery/egress-policy.ts';
import { checkCallbackUrl } from '../../../src/delivery/url-policy.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { createFilingListStore } from '../../../src/filings/filing-list-store.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../../src/polling/polling-store.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { createSubscriptionStore } from '../../../src/subscriptions/subscription-store.ts';

/** The operator's token in tests of the API. */
export const operatorToken = 'operator-token-of-the-tests-0123456789';

/** The API on real stores, called without a network; the hooks note what they are asked for. */
export type ApiFixture = Awaited<ReturnType<typeof createApiFixture>>;

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
  const sealer = createSealer([{ id: 'test', key: randomBytes(32) }]);
  const calls: unknown[][] = [];
  const policy = createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] });
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
    polling: createPollingStore(redis, keys),
    log: createEventLog(redis, keys),
    subscriptions: createSubscriptionStore(redis, keys, sealer),
    delivery: createDeliveryStore(redis, keys),
    now: Date.now,
    checkUrl: (url) => checkCallbackUrl(url, { allowHttp: true, policy }),
    readiness: async () => ({ ready: true, reasons: [] }),
    liveness: () => ({ live: true, reasons: [] }),
    mutationsAllowed: () => null,
    metrics: new Registry(),
    hooks: notingHooks(calls),
    ...overrides,
  };
  const app = await createApi(deps);
  await app.ready();

  async function call(
    method: string,
    url: string,
    body?: unknown,
    { token = operatorToken, headers = {} }: { token?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const isJson = /json/.test(String(answer.headers['content-type']));
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? answer.json<Record<string, unknown>>() : {},
      text: answer.body,
    };
  }

  return { app, deps, keys, calls, call };
}

/** Hooks that only note how they were called. */
export function notingHooks(calls: unknown[][]): ApiHooks {
  return {
    accountSaved: async ({ account }) => void calls.push(['accountSaved', account]),
    accountRemoved: async (account) => void calls.push(['accountRemoved', account]),
    pollNow: async (account, mode) => void calls.push(['pollNow', account, mode]),
    wake: async (account, id) => void calls.push(['wake', account, id]),
    async ping({ id }) {
      calls.push(['ping', id]);
      return {
        outcome: { kind: 'retry', code: 'http_error', reason: 'The receiver answered 500.' },
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
        ? { state: 'running', matched: 3, delivered: 1, failed: 0, createdAt: Date.UTC(2026, 10, 21) }
        : null,
  };
}
