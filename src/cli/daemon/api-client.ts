import { CliError } from '../cli-error.ts';
import { baseUrlFrom, type Context, type Input, type Option } from '../command.ts';
import { quotesProblem, type Environment } from '../../config/environment.ts';
import { refusal } from './refusal.ts';

/**
 * A daemon's API for commands about one account. Paths begin behind `/v1/accounts/{account}`, unless they
 * begin with `/v1/`. Rejects with a CliError.
 */
export interface ApiClient {
  readonly account: string;
  readonly url: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  /** The parsed response; null where it is empty. */
  send<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** The response itself, 2xx, its body unread. */
  open(path: string, headers: Readonly<Record<string, string>>): Promise<Response>;
}

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

interface Request {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const requestMs = 120_000;

/**
 * A client for the daemon that options and environment name, options first. Throws CliError without a token.
 */
export function createApiClient(input: Input, { env, signal }: Context): ApiClient {
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

  async function request(method: string, path: string, init: Request): Promise<Response> {
    const base = path.startsWith('/v1/') ? '' : `/v1/accounts/${encodeURIComponent(account)}`;
    const response = await fetch(url + base + path, {
      ...init,
      method,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
      redirect: 'error',
    }).catch((error: unknown) => {
      throw signal.aborted ? error : unreachable(url, error);
    });
    if (response.ok) return response;
    throw await refusal(response, url, account, path);
  }

  async function json<T>(method: string, path: string, init: Request): Promise<T> {
    const response = await request(method, path, {
      ...init,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    });
    try {
      return (response.status === 204 ? null : await response.json()) as T;
    } catch {
      throw new CliError('unavailable', `${url} is not a filing-webhooks daemon: check --url.`);
    }
  }

  const send: ApiClient['send'] = (method, path, body) =>
    json(
      method,
      path,
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
    );

  return {
    account,
    url,
    get: (path) => json('GET', path, {}),
    post: (path, body) => send('POST', path, body),
    send,
    open: (path, headers) => request('GET', path, { headers, signal }),
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
