import { CliError } from '../cli-error.ts';
import { baseUrlFrom, type Context, type Input } from '../command.ts';
import { jsonHeaders } from './api-client.ts';

/** A filing of a sandbox, as far as commands need it. */
export interface SandboxFiling {
  readonly id: string;
  readonly status: string;
}

/**
 * Calls the control interface of a sandbox (docs/sandbox.md) and resolves to the filings in the answer; none
 * after DELETE, and where there is no such filing. Paths begin behind `/_sandbox/filings`. Rejects with a
 * CliError, also where something else than a sandbox answers.
 */
export type CallSandbox = (method: string, path: string, body?: unknown) => Promise<readonly SandboxFiling[]>;

// Milliseconds that a request may take.
const requestMs = 30_000;
// The codes by which a sandbox refuses what a command asks of it.
const refusals = /^(?:INVALID|MALFORMED|BODY|FILING)_[A-Z_]+$/;

/** Calls the sandbox that the options or the environment name, options first. */
export function createSandboxControl(input: Input, { env, signal }: Context): CallSandbox {
  const given =
    input.text('sandbox') ?? (env['SANDBOX_URL'] || `http://127.0.0.1:${env['SANDBOX_PORT'] || 4010}`);
  const url = baseUrlFrom(given, '--sandbox (or SANDBOX_URL)');
  return async (method, path, body) => {
    const response = await fetch(`${url}/_sandbox/filings${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: jsonHeaders }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new CliError(
        'unavailable',
        `No sandbox answers at ${url}: start it with npm run sandbox, or name its address with --sandbox.`,
      );
    });
    if (response.status === 204 && method === 'DELETE') return [];
    const answer = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    const { code, items = [answer] } = answer ?? {};
    if (code === 'FILING_NOT_FOUND' && method === 'GET') return [];
    if (response.ok && Array.isArray(items) && items.every(isFiling)) return items;
    if (typeof code === 'string' && refusals.test(code))
      throw new CliError('no', `The sandbox answered ${response.status}: ${JSON.stringify(answer)}`);
    const isDaemon = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
    throw new CliError(
      'unavailable',
      `${url} is ${isDaemon ? 'a filing-webhooks daemon and no sandbox' : 'no sandbox'}: name where npm run sandbox listens, without a path, e.g. --sandbox http://127.0.0.1:4010.`,
    );
  };
}

function isFiling(value: unknown): value is SandboxFiling {
  const { id, status } = (value ?? {}) as Partial<SandboxFiling>;
  return typeof id === 'string' && typeof status === 'string';
}
