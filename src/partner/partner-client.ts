import { createHash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { HostLookup } from '../names/host-lookup.ts';
import type { Clock } from '../redis/clock.ts';
import { parseFiling, parsePage, type PartnerFiling, type PartnerPage } from './filing-schema.ts';
import { kindOfStatus, meaningOf, PartnerError } from './partner-error.ts';
import { createPartnerHttp, type PartnerAnswer } from './partner-http.ts';
import type { Verdict } from './pace.ts';
import { spanOf, type ReadSpan } from './read-span.ts';
import type { RequestBudget } from './request-budget.ts';
import { repeatDelayMs } from './repeat-request.ts';

/** A page and how it was read. */
export interface PageAnswer {
  readonly page: PartnerPage;
  readonly span: ReadSpan;
  /** Length of the answer's body, which the page holds on to. */
  readonly bytes: number;
}

/**
 * Parameters of a list request; `limit` is from 1 to `pageSize` (docs/partner.md#lists).
 */
export interface ListQuery {
  readonly offset: number;
  readonly limit: number;
  readonly status?: string;
}

/**
 * The partner service as one account sees it. Every method rejects with PartnerError and nothing else. The
 * partner key goes to the account's base address only: redirects are not followed.
 */
export interface PartnerClient {
  /**
   * `GET /partner/filings`. `onArrival` is called when a page has arrived and before it is parsed, so a
   * request that it sends is under way meanwhile. A page that proves unreadable is requested again, and
   * arrives again.
   */
  listFilings(query: ListQuery, signal: AbortSignal, onArrival?: () => void): Promise<PageAnswer>;
  /** `GET /partner/{id}`; `filing` is null when the service answers 404. */
  getFiling(id: string, signal: AbortSignal): Promise<{ filing: PartnerFiling | null; span: ReadSpan }>;
  /**
   * `GET /partner/me`: a digest of the account's e-mail address, which identifies it; null when the service
   * names none.
   */
  checkAccount(signal: AbortSignal): Promise<string | null>;
}

export interface PartnerClientDeps {
  readonly baseUrl: string;
  readonly partnerKey: string;
  readonly timeoutMs: number;
  readonly budget: RequestBudget;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: () => number;
  /** Finds the addresses of the service's host; without one, the system's own lookup does. */
  readonly lookup?: HostLookup;
  /** The account whose lookups these are. */
  readonly account?: string;
  /** Called once per request sent, retries included; `code` is the status or the kind of failure. */
  readonly onRequest: (endpoint: Endpoint, code: string) => void;
}

/** Label of a metric: the endpoints, without ids. */
export type Endpoint = 'filings' | 'filing' | 'me';

/**
 * A client that repeats requests whose fault passes quickly. Each attempt counts in the request budget and
 * has a span of its own, so the time of a failed attempt never widens that of the next.
 */
export function createPartnerClient(deps: PartnerClientDeps): PartnerClient {
  const { budget, clock } = deps;
  const http = createPartnerHttp(deps);

  async function read<T>(
    endpoint: Endpoint,
    path: string,
    understand: (answer: PartnerAnswer) => T | Promise<T>,
    signal: AbortSignal,
  ): Promise<{ read: T; span: ReadSpan }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await budget.spend(
          (report) => attemptOnce(endpoint, path, understand, signal, report),
          signal,
        );
      } catch (error) {
        const failure = toPartnerError(error, endpoint, signal);
        const waitMs = repeatDelayMs(failure, attempt, budget.pace().share, deps.random);
        if (waitMs === null) throw failure;
        await delay(waitMs, undefined, { signal }).catch(() => {
          throw stopped(endpoint);
        });
      }
    }
  }

  async function attemptOnce<T>(
    endpoint: Endpoint,
    path: string,
    understand: (answer: PartnerAnswer) => T | Promise<T>,
    signal: AbortSignal,
    report: (verdict: Verdict) => void,
  ): Promise<{ read: T; span: ReadSpan }> {
    try {
      const start = clock.now();
      const asked = performance.now();
      const answer = await ask(endpoint, path, signal);
      const span = spanOf(start, clock.now(), performance.now() - asked);
      const understood = await understand(answer);
      report('fine');
      return { read: understood, span };
    } catch (error) {
      const { pace } = meaningOf(toPartnerError(error, endpoint, signal));
      if (pace !== null) report(pace);
      throw error;
    }
  }

  async function ask(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<PartnerAnswer> {
    try {
      const answer = await http.get(endpoint, path, signal);
      deps.onRequest(endpoint, String(answer.status));
      return answer;
    } catch (error) {
      deps.onRequest(endpoint, toPartnerError(error, endpoint, signal).kind);
      throw error;
    }
  }

  return {
    async listFilings(query, signal, onArrival) {
      const search = new URLSearchParams({ offset: String(query.offset), limit: String(query.limit) });
      if (query.status !== undefined) search.set('status', query.status);
      const path = `partner/filings?${search.toString()}`;
      const understand = (answer: PartnerAnswer) => toPage(answer, onArrival);
      const { read: answered, span } = await read('filings', path, understand, signal);
      return { ...answered, span };
    },
    async getFiling(id, signal) {
      const path = `partner/${encodeURIComponent(id)}`;
      const { read: filing, span } = await read('filing', path, (answer) => toFiling(answer, id), signal);
      return { filing, span };
    },
    async checkAccount(signal) {
      return (await read('me', 'partner/me', toIdentity, signal)).read;
    },
  };
}

async function toPage(answer: PartnerAnswer, onArrival?: () => void): Promise<Omit<PageAnswer, 'span'>> {
  expectOk(answer, 'filings');
  if (onArrival !== undefined) {
    onArrival();
    // Requests are written in the next turns, and parsing a page takes as long as the service needs to
    // answer.
    await nextTurn();
  }
  return { page: parseOr('filings', () => parsePage(answer.text)), bytes: answer.bytes };
}

function toFiling(answer: PartnerAnswer, id: string): PartnerFiling | null {
  if (answer.status === 404) return null;
  expectOk(answer, 'filing');
  const filing = parseOr('filing', () => parseFiling(answer.text));
  if (filing.id !== id) throw new PartnerError('invalid_response', 'GET filing answered with another filing');
  return filing;
}

// Null where a proxy answers in place of the service, for its page is not an account.
function toIdentity(answer: PartnerAnswer): string | null {
  expectOk(answer, 'me');
  const { email } = parseOr('me', () => {
    const value: unknown = JSON.parse(answer.text());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  }) as { readonly email?: unknown };
  // Name and state of an account may change; its address identifies it.
  const address = typeof email === 'string' ? email.trim().toLowerCase() : '';
  return address === '' ? null : createHash('sha256').update(address).digest('base64url');
}

function expectOk({ status, retryAfterMs }: PartnerAnswer, endpoint: Endpoint): void {
  const kind = kindOfStatus(status);
  if (kind !== null)
    throw new PartnerError(kind, `GET ${endpoint} answered ${status}`, { status, retryAfterMs });
}

function parseOr<T>(endpoint: Endpoint, parse: () => T | null): T {
  let parsed: T | null = null;
  try {
    parsed = parse();
  } catch {
    throw new PartnerError('invalid_response', `GET ${endpoint} answered with a body that is not JSON`);
  }
  if (parsed === null)
    throw new PartnerError('invalid_response', `GET ${endpoint} answered with JSON of an unexpected shape`);
  return parsed;
}

// A request that waits for the budget rejects with the reason of the abort.
function toPartnerError(error: unknown, endpoint: Endpoint, signal: AbortSignal): PartnerError {
  if (error instanceof PartnerError) return error;
  if (signal.aborted) return stopped(endpoint);
  throw error;
}

function stopped(endpoint: Endpoint): PartnerError {
  return new PartnerError('aborted', `GET ${endpoint} was stopped`);
}
