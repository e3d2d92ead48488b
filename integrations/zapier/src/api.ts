import type { Bundle, HttpRequestOptionsWithUrl, HttpResponse, ZObject } from 'zapier-platform-core';
import { readAddress } from './address.ts';
import { version } from './version.ts';
import { judge, readProblem, type Failure } from './problem.ts';

/** A request to the API, below the account of the connection. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Appended to `/v1/accounts/{account}`; one that begins with `/v1/` is taken as it is. */
  readonly path: string;
  /** Undefined and empty values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** The code of an error that is as good as a success; the answer is null then. */
  readonly gone?: string;
}

// Milliseconds; Zapier ends a step after thirty seconds.
const timeoutMs = 20_000;

/**
 * Asks the API with the connection's token and returns the body of a 2xx, null where it is empty. Everything
 * else is thrown as the error class by which Zapier does what helps, with the product's text.
 */
export async function callApi<T>(z: ZObject, bundle: Bundle, request: ApiRequest): Promise<T> {
  const address = readAddress(bundle.authData['baseUrl']);
  if ('wrong' in address) throw new z.errors.Error(address.wrong, 'wrong_address', 400);
  const { base } = address;
  const asked = { base, account: accountOf(bundle) };
  const response = await send(z, base, toHttp(request, bundle, base));
  const { status } = response;
  if (status >= 200 && status < 300) return readBody<T>(z, response, asked);
  if (status >= 300 && status < 400) {
    const to = response.getHeader('location') ?? 'another address';
    throw new z.errors.Error(
      `${base} sends on to ${to}. Enter the address itself in the connection.`,
      'redirected',
      status,
    );
  }
  const problem = readProblem(response.data);
  if (problem !== null && problem.code === request.gone) return null as T;
  throw toError(z, judge(status, problem, response.getHeader('retry-after') ?? null, asked), status);
}

function toHttp(request: ApiRequest, bundle: Bundle, base: string): HttpRequestOptionsWithUrl {
  const { method = 'GET', path, query = {}, body } = request;
  const account = `/v1/accounts/${encodeURIComponent(accountOf(bundle))}`;
  const url = new URL(`${base}${path.startsWith('/v1/') ? path : `${account}${path}`}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  return {
    url: url.href,
    method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${bundle.authData['token']?.trim() ?? ''}`,
      'user-agent': `filing-webhooks-zapier/${version}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
    timeout: timeoutMs,
    skipThrowForStatus: true,
    ...{ throwForThrottlingEarly: false },
  };
}

/** The account of the connection. */
export function accountOf(bundle: Bundle): string {
  return bundle.authData['account']?.trim() || 'default';
}

async function send(z: ZObject, base: string, options: HttpRequestOptionsWithUrl): Promise<HttpResponse> {
  try {
    return await z.request(options);
  } catch (error) {
    const { code, type, message } = error as { code?: string; type?: string; message: string };
    throw new z.errors.Error(
      `No daemon answers at ${base} (${code ?? type ?? message}). Check the address, and that it can be reached from the internet.`,
      'unreachable',
    );
  }
}

function readBody<T>(z: ZObject, response: HttpResponse, asked: { base: string; account: string }): T {
  if (response.content === '') return null as T;
  if (typeof response.data === 'object' && response.data !== null) return response.data as T;
  throw toError(z, judge(response.status, null, null, asked), response.status);
}

function toError(z: ZObject, failure: Failure, status: number): Error {
  const { kind, message } = failure;
  if (kind === 'reconnect') return new z.errors.ExpiredAuthError(message);
  if (kind === 'halt') return new z.errors.HaltedError(message);
  if (kind === 'wait') return new z.errors.ThrottledError(message, failure.seconds);
  return new z.errors.Error(message, failure.code, status);
}
