import { CliError } from '../cli-error.ts';
import { baseUrlFrom, type Context, type Input } from '../command.ts';

/** The filings of a sandbox, as its control interface has them (docs/sandbox.md). */
export interface SandboxControl {
  /** Paths begin behind `/_sandbox/filings`. Null where there is no such filing. Rejects with a CliError. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** A client for the sandbox that the options or the environment name, options first. */
export function createSandboxControl(input: Input, { env, signal }: Context): SandboxControl {
  const given =
    input.text('sandbox') ?? (env['SANDBOX_URL'] || `http://127.0.0.1:${env['SANDBOX_PORT'] || 4010}`);
  const url = baseUrlFrom(given, '--sandbox (or SANDBOX_URL)');
  return {
    async call(method, path, body) {
      const response = await fetch(`${url}/_sandbox/filings${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        signal,
      }).catch((error: unknown) => {
        if (signal.aborted) throw error;
        throw new CliError(
          'unavailable',
          `No sandbox answers at ${url}: start it with npm run sandbox, or name its address with --sandbox.`,
        );
      });
      if (response.status === 404 && method === 'GET') return null;
      if (!response.ok)
        throw new CliError('no', `The sandbox answered ${response.status}: ${await response.text()}`);
      return response.status === 204 ? null : await response.json();
    },
  };
}
