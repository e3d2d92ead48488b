import { setTimeout as delay } from 'node:timers/promises';
import { jitter } from '../waiting/jitter.ts';
import { createAnswerRooms, type AnswerRoom, type AnswerRooms } from './answer-room.ts';
import type { FilingStateRules } from './filing-states.ts';
import { pageSize, type PartnerFiling, type PartnerPage } from './filing-schema.ts';
import { AnswerExcess, meaningOf, PartnerError, type Counted } from './partner-error.ts';
import { bodyBytesMax, createPartnerHttp } from './partner-http.ts';
import type { Asked, PartnerAnswer, PartnerHttpDeps } from './partner-http.ts';
import type { Verdict } from './pace.ts';
import { spanOf, type ReadSpan } from './read-span.ts';
import type { RequestBudget } from './request-budget.ts';
import type { Urgency } from './host-budgets.ts';
import { kept, released, toFiling, toFilingStates, toIdentity, toPage } from './understand-answer.ts';

/** A page and how it was read. */
export interface PageAnswer {
  readonly page: PartnerPage;
  readonly span: ReadSpan;
  /** Length of the answer's body, which the page holds on to. */
  readonly bytes: number;
  /** To be called once the page's filings are compared: other large pages wait for its room. */
  readonly release: () => void;
}

/**
 * Parameters of a list request; `limit` is from 1 to `pageSize` (docs/partner.md#lists).
 */
export interface ListQuery {
  readonly offset: number;
  readonly limit: number;
  readonly status?: string;
  /** True for a page of a long list: it yields to other requests if accounts share a budget. */
  readonly isSweep?: boolean;
  /** True: the request is never repeated, and trouble with it does not slow down others. */
  readonly once?: boolean;
}

/** A search by the service itself (`q`, docs/partner.md#lists). */
export interface SearchQuery extends ListQuery {
  readonly q: string;
}

/**
 * The partner service as one account sees it. Every method rejects with PartnerError and nothing else. The
 * partner key goes to the account's base address only: redirects are not followed.
 */
export interface PartnerClient {
  /**
   * `GET /partner/filings`. A page that proves unreadable is requested again. So is one that is larger than
   * an answer may be, with half the limit; the lower limit stays until pages leave room for twice as many
   * records.
   */
  listFilings(query: ListQuery, signal: AbortSignal): Promise<PageAnswer>;
  /**
   * `GET /partner/filings?q=`: one request, never repeated, whose trouble does not slow down others. A
   * refusal (429) does.
   */
  searchFilings(query: SearchQuery, signal: AbortSignal): Promise<PartnerPage>;
  /** The service's count of all filings, or null if it gives none. */
  countFilings(signal: AbortSignal): Promise<number | null>;
  /** `GET /partner/{id}`; `filing` is null when the service answers 404. */
  getFiling(id: string, signal: AbortSignal): Promise<{ filing: PartnerFiling | null; span: ReadSpan }>;
  /**
   * `GET /partner/filing-states?state=`: the rules of a state; one request, whose trouble does not slow down
   * others.
   */
  filingStates(stateAbbr: string, signal: AbortSignal): Promise<readonly FilingStateRules[]>;
  /**
   * `GET /partner/me`: a digest of the account's e-mail address, which identifies it, or null if the service
   * names none.
   */
  checkAccount(signal: AbortSignal): Promise<string | null>;
  /** The same client; `onSent` is called once per request that is sent through it, retries included. */
  counting(onSent: () => void): PartnerClient;
}

export interface PartnerClientDeps extends PartnerHttpDeps {
  readonly budget: RequestBudget;
  readonly random: () => number;
  /** Room for large answers; the client has its own if this is missing. */
  readonly rooms?: AnswerRooms;
  /** Called once per request sent, retries included; `code` is the status or the kind of failure. */
  readonly onRequest: (endpoint: Endpoint, code: string) => void;
}

/** Label of a metric: the endpoints, without ids. */
export type Endpoint = 'filings' | 'filing' | 'me' | 'search' | 'states';

interface Request extends Asked {
  readonly endpoint: Endpoint;
  /** The limit of a list, null for other requests. */
  readonly limit: number | null;
  readonly urgency: Urgency;
  readonly once: boolean;
}

type Understand<T> = (answer: PartnerAnswer) => Promise<T>;
type Report = (verdict: Verdict) => void;

/**
 * A client that repeats requests whose fault passes quickly. Each attempt counts in the request budget and
 * has a span of its own, so the time of a failed attempt never widens that of the next.
 */
export function createPartnerClient(deps: PartnerClientDeps): PartnerClient {
  const { rooms = createAnswerRooms() } = deps;
  return clientOver({ ...deps, rooms, http: createPartnerHttp(deps), pages: { fitting: pageSize } });
}

interface SharedDeps extends PartnerClientDeps {
  readonly rooms: AnswerRooms;
  readonly http: ReturnType<typeof createPartnerHttp>;
  /** Number of records of which a page fits into an answer, as far as is known. */
  readonly pages: { fitting: number };
}

function clientOver(deps: SharedDeps): PartnerClient {
  const { rooms, pages } = deps;
  const read = createReader(deps);
  const single = { room: rooms.others, limit: null, urgency: 'change', once: false } as const;

  async function readPage(query: ListQuery, signal: AbortSignal): Promise<PageAnswer> {
    const understand = kept(async (answer) => {
      const page = await toPage(answer);
      return { page, bytes: answer.body.length, release: answer.release };
    });
    const { read: answered, span } = await read(listRequest(query, rooms.pages), understand, signal);
    return { ...answered, span };
  }

  return {
    async listFilings(query, signal) {
      for (;;) {
        const limit = Math.min(query.limit, pages.fitting);
        try {
          const answer = await readPage({ ...query, limit }, signal);
          const isRoomLeft = answer.bytes * 2 < bodyBytesMax;
          if (limit === pages.fitting && isRoomLeft) pages.fitting = Math.min(pageSize, limit * 2);
          return answer;
        } catch (error) {
          const isTooLarge = error instanceof PartnerError && error.excess?.of === 'bytes';
          if (!isTooLarge || limit === 1) throw error;
          pages.fitting = Math.min(pages.fitting, Math.floor(limit / 2));
        }
      }
    },
    async searchFilings(query, signal) {
      const list = listRequest({ ...query, once: true }, rooms.others);
      const request = { ...list, endpoint: 'search', urgency: 'person' } as const;
      return (await read(request, released(toPage), signal)).read;
    },
    async countFilings(signal) {
      const request = listRequest({ offset: 0, limit: 1 }, rooms.others);
      const understand = released(async (answer) => (await toPage(answer)).total);
      return (await read(request, understand, signal)).read;
    },
    async getFiling(id, signal) {
      const path = `partner/${encodeURIComponent(id)}`;
      const request = { ...single, endpoint: 'filing', path } as const;
      const understand = released((answer) => toFiling(answer, id));
      const { read: filing, span } = await read(request, understand, signal);
      return { filing, span };
    },
    async filingStates(stateAbbr, signal) {
      const path = `partner/filing-states?${new URLSearchParams({ state: stateAbbr }).toString()}`;
      const request = { ...single, endpoint: 'states', path, urgency: 'person', once: true } as const;
      return (await read(request, released(toFilingStates), signal)).read;
    },
    async checkAccount(signal) {
      const path = 'partner/me';
      const request = { ...single, endpoint: 'me', path } as const;
      return (await read(request, released(toIdentity), signal)).read;
    },
    counting: (onSent) =>
      clientOver({
        ...deps,
        onRequest(endpoint, code) {
          if (endpoint !== 'search' && endpoint !== 'states') onSent();
          deps.onRequest(endpoint, code);
        },
      }),
  };
}

/** Sends a request, retries it after a transient fault, and reads the answer with `understand`. */
function createReader({ budget, clock, http, onRequest, random }: SharedDeps) {
  async function read<T>(
    request: Request,
    understand: Understand<T>,
    signal: AbortSignal,
  ): Promise<{ read: T; span: ReadSpan }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const attemptOne = (report: Report) => attemptOnce(request, understand, signal, report);
        return await budget.spend(attemptOne, signal, request.urgency);
      } catch (error) {
        const failure = toPartnerError(error, request, signal);
        const waitMs = request.once ? null : repeatDelayMs(failure, attempt, budget.pace().share, random);
        if (waitMs === null) throw failure;
        await delay(waitMs, undefined, { signal }).catch(() => {
          throw stopped(request.endpoint);
        });
      }
    }
  }

  async function attemptOnce<T>(
    request: Request,
    understand: Understand<T>,
    signal: AbortSignal,
    report: Report,
  ): Promise<{ read: T; span: ReadSpan }> {
    try {
      const start = clock.now();
      const asked = performance.now();
      const answer = await ask(request, signal);
      const span = spanOf(start, clock.now(), performance.now() - asked);
      const understood = await understand(answer);
      report('fine');
      return { read: understood, span };
    } catch (error) {
      const failure = toPartnerError(error, request, signal);
      const { pace } = meaningOf(failure);
      if (pace !== null && !(request.once && pace === 'trouble')) report(pace);
      throw failure;
    }
  }

  async function ask(request: Request, signal: AbortSignal): Promise<PartnerAnswer> {
    const { endpoint } = request;
    try {
      const answer = await http.get(request, signal);
      onRequest(endpoint, String(answer.status));
      return answer;
    } catch (error) {
      const failure = toPartnerError(error, request, signal);
      onRequest(endpoint, failure.kind);
      throw failure;
    }
  }

  return read;
}

function listRequest(query: ListQuery & { readonly q?: string }, room: AnswerRoom): Request {
  const { offset, limit, status, q, isSweep, once = false } = query;
  const search = new URLSearchParams({ offset: String(offset), limit: String(limit) });
  if (status !== undefined) search.set('status', status);
  if (q !== undefined) search.set('q', q);
  const path = `partner/filings?${search.toString()}`;
  const urgency = isSweep === true ? 'sweep' : 'change';
  return { endpoint: 'filings', path, room, limit, urgency, once };
}

// A request that waits for the budget rejects with the reason of the abort.
function toPartnerError(error: unknown, { endpoint, limit }: Request, signal: AbortSignal): PartnerError {
  if (error instanceof PartnerError) return error;
  if (error instanceof AnswerExcess) return excessError(error, endpoint, limit);
  if (signal.aborted) return stopped(endpoint);
  throw error;
}

function excessError({ of, max }: AnswerExcess, endpoint: Endpoint, limit: number | null): PartnerError {
  const request = limit === null ? `GET ${endpoint}` : `GET ${endpoint} with limit=${limit}`;
  const message = `${request} answered more than ${max} ${of}${remedies[of]}`;
  return new PartnerError('invalid_response', message, { excess: { of, limit } });
}

const remedies: Readonly<Record<Counted, string>> = {
  bytes: ': the partner service has to send smaller filings',
  records: ': the partner service has to respect limit',
};

function stopped(endpoint: Endpoint): PartnerError {
  return new PartnerError('aborted', `GET ${endpoint} was stopped`);
}

const attemptsMax = 3;
// Minimum share of its pace at which requests are repeated. Below it the service is known to be in trouble,
// and one attempt shows as much as three.
const retryShareMin = 0.2;

/**
 * Milliseconds until a failed request is repeated within the same poll, null for never; pure. Only requests
 * whose fault passes quickly are repeated, up to two times.
 */
export function repeatDelayMs(
  error: PartnerError,
  attempt: number,
  share: number,
  random: () => number,
): number | null {
  // A `Retry-After` applies to the whole account; the poll's waits and its backoff follow it.
  if (meaningOf(error).repeat !== 'soon' || error.retryAfterMs !== null) return null;
  if (attempt >= attemptsMax || share < retryShareMin) return null;
  return jitter(100, { more: 4 }, random);
}
