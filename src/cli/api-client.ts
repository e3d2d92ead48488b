import type { problemBody, ProblemCode } from '../api/shared/problem.ts';
import { CliError, type Failure } from './cli-error.ts';
import { baseUrlFrom, type Context, type Input, type Option } from './command.ts';
import { quotesProblem, type Environment } from '../config/environment.ts';

/**
 * A daemon's API for commands about one account. Paths begin behind `/v1/accounts/{account}`, unless they
 * begin with `/v1/`. Rejects with a CliError.
 */
export type ApiClient = ReturnType<typeof createApiClient>;

/** The options of every command that calls the API. */
export const apiOptions = {
  account: { value: 'NAME', text: 'the account (FILING_WEBHOOKS_ACCOUNT; default: default)' },
  url: {
    value: 'URL',
    text: 'where the daemon listens (FILING_WEBHOOKS_URL; default: http://127.0.0.1:3000)',
  },
  token: {
    value: 'TOKEN',
    text: 'the operator token or one of the account (better: FILING_WEBHOOKS_TOKEN or API_TOKEN)',
  },
} satisfies Record<string, Option>;

// Milliseconds that a request may take.
const requestMs = 120_000;
/** The headers of a request with JSON. */
export const jsonHeaders = { 'content-type': 'application/json' };

/**
 * A client for the daemon that options and environment name, options first. Throws CliError without a token.
 */
export function createApiClient(input: Input, { env, signal }: Context) {
  for (const [name, text = ''] of Object.entries(env)) {
    const problem = /^(?:FILING_WEBHOOKS_|PARTNER_|API_TOKEN$)/.test(name) ? quotesProblem(text) : null;
    if (problem !== null) throw new CliError('usage', `${name} ${problem}.`);
  }
  const url = daemonUrl(input, env);
  const token = input.text('token') ?? (env['FILING_WEBHOOKS_TOKEN'] || env['API_TOKEN']);
  if (!token)
    throw new CliError(
      'usage',
      'No token: set API_TOKEN or FILING_WEBHOOKS_TOKEN, or name the .env of the daemon with --env-file.',
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CliError('usage', 'The token has characters that tokens never have: copy it again.');
  const account = input.text('account') ?? (env['FILING_WEBHOOKS_ACCOUNT'] || 'default');

  async function request(path: string, init: RequestInit): Promise<Response> {
    const base = path.startsWith('/v1/') ? '' : `/v1/accounts/${encodeURIComponent(account)}`;
    const response = await fetch(url + base + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      redirect: 'error',
    }).catch((error: unknown) => {
      throw signal.aborted ? error : unreachable(url, error);
    });
    if (response.ok) return response;
    throw await refusal(response, url, account, path);
  }

  async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await request(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: jsonHeaders }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    });
    try {
      return (response.status === 204 ? null : await response.json()) as T;
    } catch {
      throw new CliError('unavailable', `${url} is not a filing-webhooks daemon: check --url.`);
    }
  }

  return {
    account,
    url,
    get: <T>(path: string) => send<T>('GET', path),
    /** The parsed response; null if it is empty. */
    send,
    /** The response itself, 2xx, its body unread. */
    open: (path: string, headers: Readonly<Record<string, string>>) => request(path, { headers, signal }),
  };
}

function daemonUrl(input: Input, env: Environment): string {
  return baseUrlFrom(
    input.text('url') ?? (env['FILING_WEBHOOKS_URL'] || `http://127.0.0.1:${env['PORT'] || 3000}`),
    '--url (or FILING_WEBHOOKS_URL)',
  );
}

/** The query of a path without the fields that are null; empty when all are. */
export function query(fields: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function unreachable(url: string, error: unknown): CliError {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  const why = cause?.code ?? cause?.message ?? message;
  return new CliError(
    'unavailable',
    `Nothing answers at ${url} (${why}): start the daemon, or name its address with --url or FILING_WEBHOOKS_URL.`,
  );
}

/** The command that lists what there is, by the code of a problem about what there is not. */
const lists: Partial<Readonly<Record<ProblemCode, string>>> = {
  subscription_not_found: 'filing-webhooks api GET /subscriptions lists those of the account.',
  token_not_found: 'filing-webhooks api GET /tokens lists those of the account.',
  filing_not_found: "filing-webhooks api GET '/filings?q=TEXT' finds one by policy number, insured or id.",
  attempt_not_found: 'filing-webhooks api GET /attempts lists them.',
};

/** The error for the response that is no 2xx to a request for a path, in the words of the command line. */
async function refusal(
  response: Response,
  url: string,
  account: string,
  requested: string,
): Promise<CliError> {
  const isOurs = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
  const problem = (isOurs ? await response.json().catch(() => ({})) : {}) as Partial<
    ReturnType<typeof problemBody>
  >;
  if (problem.code === undefined)
    return new CliError(
      'unavailable',
      `${url} is not a filing-webhooks daemon (status ${response.status}): check --url or FILING_WEBHOOKS_URL.`,
    );
  if (response.status === 401)
    return new CliError(
      'refused',
      `${url} does not know the token: take API_TOKEN of that daemon, or a token of the account.`,
    );
  if (problem.code === 'account_not_found') return new CliError('no', missingAccount(account, requested));
  const { title = problem.code, detail = '', errors = [] } = problem;
  const list = lists[problem.code];
  if (list !== undefined) return new CliError('no', `${title}: ${list}`);
  const each =
    errors.length < 2 ? '' : errors.map(({ path, message }) => `\n  ${path || 'body'}: ${message}`).join('');
  return new CliError(failureOf(response.status), `${title}: ${detail}${each}`);
}

// A path that names its account does not take the one of --account.
function missingAccount(account: string, requested: string): string {
  const named = /^\/v1\/accounts\/([^/?]+)/.exec(requested)?.[1];
  return named === undefined
    ? `There is no account ${account} for this token: name another with --account.`
    : `There is no account ${decodeURIComponent(named)} for this token: filing-webhooks api GET /v1/accounts lists those there are.`;
}

function failureOf(status: number): Failure {
  if (status >= 500 || status === 429) return 'unavailable';
  if (status === 403) return 'refused';
  return status === 422 ? 'usage' : 'no';
}
