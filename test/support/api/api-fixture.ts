import { Registry } from 'prom-client';
import { createApi } from '../../../src/api/api.ts';
import type { ApiDeps, ApiHooks } from '../../../src/api/deps.ts';
import { createApiDeps } from '../../../src/daemon/parts/api-deps.ts';
import type { ReplayProgress } from '../../../src/delivery/replay/replay.ts';
import type { Replayer } from '../../../src/delivery/replay/start-replay.ts';
import type { Overrides } from '../../../src/daemon/parts/overrides.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { isInIndex } from '../../../src/filings/detection/age-rank.ts';
import { effectiveDate, type FilingDetails } from '../../../src/filings/detection/filing-details.ts';
import type { StoredState } from '../../../src/filings/detection/filing-state.ts';
import type { FilingCommit } from '../../../src/filings/detection/decide-commit.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import { storedRecords } from '../redis/stored-account.ts';
import { createDocumentCheck, type ApiDocument } from './documented.ts';
import { connectionsOver, createProduct, operatorToken, testConfig } from '../daemon/product.ts';

export { operatorToken };

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

/**
 * The product's API over `redis` with keys under `prefix`; `overrides` replace what it is given, and may be
 * made of what the product gives it.
 */
export async function createApiFixture(
  redis: RedisClient,
  prefix: string,
  overrides: Partial<ApiDeps> | ((made: Pick<ApiDeps, 'hooks' | 'replayer'>) => Partial<ApiDeps>) = {},
) {
  const calls: unknown[][] = [];
  const config = { ...testConfig(prefix), eventRetentionMs: 3_600_000 };
  const standIns: Overrides = {
    connections: connectionsOver(redis, () => redis),
    now: Date.now,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  };
  const product = await createProduct(config, { overrides: standIns });
  const { keys } = product.parts;
  const { logger: _, beforeScrape: __, ...made } = createApiDeps(config, product.parts, standIns);
  const deps: ApiDeps = {
    ...made,
    readiness: async () => ({ ready: true, reasons: [] }),
    liveness: () => ({ live: true, reasons: [] }),
    storeProblem: async () => null,
    metrics: new Registry(),
    hooks: notingHooks(calls),
    replayer: notingReplayer(calls),
    ...(typeof overrides === 'function' ? overrides(made) : overrides),
  };
  const app = await createApi(deps);
  app.addHook('onClose', () => product[Symbol.asyncDispose]());
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
    const at = Date.now();
    await deps.snapshot.commit(
      account,
      generation,
      filings.map((filing, i) => toCommit(account, filing, known[i] ?? null, at)),
      at,
    );
  }

  return {
    app,
    deps,
    keys,
    stored: storedRecords(redis, keys),
    calls,
    call,
    ok,
    listAll,
    createAccount,
    putFilings,
  };
}

/** A filing to be put into the snapshot. */
export interface PutFiling {
  readonly id: string;
  readonly status: string;
  readonly type?: string;
  readonly removed?: boolean;
  readonly rejectionReason?: string;
  readonly completedAt?: string;
  readonly document?: Record<string, unknown>;
  /** In place of those that all have. */
  readonly details?: Partial<FilingDetails>;
}

function toCommit(
  account: string,
  filing: PutFiling,
  previous: StoredState | null,
  at: number,
): FilingCommit {
  const { id, status, type, removed = false, rejectionReason = null, document = { id, status } } = filing;
  const sequence = (previous?.state.sequence ?? 0) + (type === undefined ? 0 : 1);
  const after = { status, completedAt: filing.completedAt ?? null, rejectionReason, removed };
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
    carriersName: 'Harbor',
    createdAt: '2026-01-02T03:04:05.000Z',
    policyEffectiveDate: '2026-01-01T00:00:00.000Z',
    endorsementEffectiveDate: null,
    endorsementNumber: null,
    ...filing.details,
  };
  const effective = isInIndex(after) ? effectiveDate(details) : null;
  const dated = effective === null ? {} : { effective };
  const next = { ...after, sequence, since: at, readFrom: at, readAt: at, ...dated };
  return { id, previous, next, details: isInIndex(next) ? details : null, event };
}

/** Hooks that only note how they were called. */
function notingHooks(calls: unknown[][]): ApiHooks {
  return {
    accountSaved: async ({ account }) => void calls.push(['accountSaved', account]),
    checkPartner: async () => ({ ok: true, detail: 'The partner service takes the key.' }),
    accountRemoved: async (account) => void calls.push(['accountRemoved', account]),
    pollNow: async (account, mode) => void calls.push(['pollNow', account, mode]),
    wake: async (account) => void calls.push(['wake', account]),
    async ping({ id }) {
      calls.push(['ping', id]);
      return {
        outcome: { kind: 'retry', code: 'http_error', sent: true, reason: 'The receiver answered 500.' },
        statusCode: 500,
        durationMs: 12,
        response: 'no',
        request: null,
        responseHeaders: null,
        traceparent: null,
      };
    },
    endExpired: async () => false,
    async verify(_settings, { id }) {
      calls.push(['verify', id]);
      const reason = 'The receiver answered 500.';
      const outcome = { kind: 'retry', code: 'http_error', sent: true, reason } as const;
      return { kind: 'asked', asked: { refusal: reason, outcome, statusCode: 500, durationMs: 12 } };
    },
  };
}

/** A replayer that only notes how it was called. */
function notingReplayer(calls: unknown[][]): Replayer {
  return {
    async start(account, id, request) {
      calls.push(['replay', account, id, request]);
      return { id: 'rpl_1', matched: 3 };
    },
    async snapshot(account, id, filingId) {
      calls.push(['snapshot', account, id, ...(filingId === undefined ? [] : [filingId])]);
      return 'rpl_2';
    },
    progress: async (_account, _id, replay) => (replay === 'rpl_1' ? runningReplay : null),
    count: async () => 3,
    list: async () => [runningReplay],
    async cancel(account, id, replay) {
      calls.push(['replayCancel', account, id, replay]);
      return replay === 'rpl_1';
    },
  };
}

const runningReplay: ReplayProgress = {
  id: 'rpl_1',
  request: { after: null, before: null, eventTypes: null, filingId: null, deadLettersOnly: false },
  state: 'running',
  matched: 3,
  delivered: 1,
  failed: 0,
  createdAt: Date.UTC(2026, 10, 21),
};
