import got, { RequestError, type Got } from 'got';
import type { Clock } from '../redis/clock.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import { parseFiling, parsePage, type PartnerFiling, type PartnerPage } from './filing-schema.ts';
import { PartnerError } from './partner-error.ts';
import type { RequestBudget } from './request-budget.ts';

/** The time span of one read, milliseconds on Redis's clock: what was read was true at some moment within it. */
export interface ReadWindow {
  readonly start: number;
  readonly end: number;
}

/** What a list request asks for; the service clamps `limit` to 1–100 (partner specification, Limits). */
export interface ListQuery {
  readonly offset: number;
  readonly limit: number;
  readonly status?: string;
}

/**
 * The partner service as one account sees it. Every method rejects with PartnerError and nothing else. The partner key
 * goes to the account's base address only: redirects are not followed.
 */
export interface PartnerClient {
  /** `GET /partner/filings`. */
  listFilings(query: ListQuery, signal: AbortSignal): Promise<{ page: PartnerPage; window: ReadWindow }>;
  /** `GET /partner/{id}`; `filing` is null when the service answers 404. */
  getFiling(id: string, signal: AbortSignal): Promise<{ filing: PartnerFiling | null; window: ReadWindow }>;
  /** `GET /partner/me`: whether the service still knows this account. */
  checkAccount(signal: AbortSignal): Promise<void>;
}

export interface PartnerClientDeps {
  readonly baseUrl: string;
  readonly partnerKey: string;
  readonly timeoutMs: number;
  readonly budget: RequestBudget;
  readonly clock: Clock;
  /** Called once per request sent, retries included; `code` is the status or the kind of failure. */
  readonly onRequest: (endpoint: Endpoint, code: string) => void;
}

/** Label of a metric: the endpoints, without ids. */
export type Endpoint = 'filings' | 'filing' | 'me';

const responseBytesMax = 16 * 1024 * 1024;
const retriesMax = 2;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly window: ReadWindow;
}

/** A client with got's retries on faults that pass (network, 5xx), each of them paid from the request budget. */
export function createPartnerClient(deps: PartnerClientDeps): PartnerClient {
  const http = createHttp(deps);
  const get = (endpoint: Endpoint, path: string, signal: AbortSignal) =>
    deps.budget
      .place(() => send(deps, http, endpoint, path, signal), signal)
      .catch((error: unknown) => {
        throw error instanceof PartnerError
          ? error
          : new PartnerError('aborted', 'stopped before the request was sent');
      });

  return {
    async listFilings(query, signal) {
      const search = new URLSearchParams({ offset: String(query.offset), limit: String(query.limit) });
      if (query.status !== undefined) search.set('status', query.status);
      const { text, window } = expectOk(await get('filings', `partner/filings?${search.toString()}`, signal));
      return { page: parseOr('filings', () => parsePage(text)), window };
    },
    async getFiling(id, signal) {
      const answer = await get('filing', `partner/${encodeURIComponent(id)}`, signal);
      if (answer.status === 404) return { filing: null, window: answer.window };
      const { text, window } = expectOk(answer);
      const filing = parseOr('filing', () => parseFiling(text));
      if (filing.id !== id) throw new PartnerError('invalid_response', 'GET filing answered another filing');
      return { filing, window };
    },
    async checkAccount(signal) {
      expectOk(await get('me', 'partner/me', signal));
    },
  };
}

function createHttp(deps: PartnerClientDeps): Got {
  return got.extend({
    prefixUrl: deps.baseUrl,
    headers: { PartnerKey: deps.partnerKey, accept: 'application/json', 'user-agent': 'filing-webhooks' },
    followRedirect: false,
    decompress: false,
    throwHttpErrors: false,
    timeout: { request: deps.timeoutMs },
    retry: {
      limit: retriesMax,
      methods: ['GET'],
      statusCodes: [500, 502, 503, 504],
      maxRetryAfter: 0,
      calculateDelay: ({ computedValue }) => (computedValue === 0 ? 0 : 100 + Math.random() * 400),
    },
    hooks: {
      beforeRequest: [
        async (options) => {
          await deps.budget.token();
          options.context['startedAt'] = deps.clock.now();
        },
      ],
    },
  });
}

async function send(
  deps: PartnerClientDeps,
  http: Got,
  endpoint: Endpoint,
  path: string,
  signal: AbortSignal,
): Promise<Answer> {
  const context: Record<string, unknown> = {};
  const tooLarge = new AbortController();
  const request = http(path, {
    context,
    signal: AbortSignal.any([signal, tooLarge.signal]),
    hooks: {
      beforeRetry: [(error) => deps.onRequest(endpoint, codeOf(error))],
    },
  });
  void request.on('downloadProgress', ({ transferred }) => {
    if (transferred > responseBytesMax) tooLarge.abort();
  });
  try {
    const response = await request;
    const status = response.statusCode;
    deps.onRequest(endpoint, String(status));
    refuse(endpoint, status, response.headers);
    const start = Number(response.request.options.context['startedAt']);
    return { status, text: response.body, window: { start, end: deps.clock.now() } };
  } catch (error) {
    if (error instanceof PartnerError) throw error;
    deps.onRequest(endpoint, codeOf(error));
    throw translate(endpoint, error, signal.aborted, tooLarge.signal.aborted);
  }
}

function refuse(
  endpoint: Endpoint,
  status: number,
  headers: Record<string, string | string[] | undefined>,
): void {
  const retryAfter = headers['retry-after'];
  const retryAfterMs = typeof retryAfter === 'string' ? parseRetryAfter(retryAfter, Date.now()) : null;
  const said = `GET ${endpoint} answered ${status}`;
  if (status === 401 || status === 403) throw new PartnerError('auth', said, { status });
  if (status === 429) throw new PartnerError('rate_limited', said, { status, retryAfterMs });
  if (status >= 500) throw new PartnerError('unavailable', said, { status, retryAfterMs });
}

function expectOk(answer: Answer): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new PartnerError('unexpected_status', `the partner service answered ${answer.status}`, {
    status: answer.status,
  });
}

function parseOr<T>(endpoint: Endpoint, parse: () => T | null): T {
  let parsed: T | null = null;
  try {
    parsed = parse();
  } catch {
    throw new PartnerError('invalid_response', `GET ${endpoint} answered something that is not JSON`);
  }
  if (parsed === null)
    throw new PartnerError('invalid_response', `GET ${endpoint} answered JSON of another shape`);
  return parsed;
}

function translate(endpoint: Endpoint, error: unknown, stopped: boolean, tooLarge: boolean): PartnerError {
  if (tooLarge) return new PartnerError('invalid_response', `GET ${endpoint} answered more than 16 MiB`);
  if (stopped) return new PartnerError('aborted', `GET ${endpoint} was stopped`);
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') return new PartnerError('timeout', `GET ${endpoint} took too long`);
  return new PartnerError('network', `GET ${endpoint} failed: ${code}`);
}

function codeOf(error: unknown): string {
  if (!(error instanceof RequestError)) return 'ERR_UNKNOWN';
  return error.response === undefined ? error.code : String(error.response.statusCode);
}
