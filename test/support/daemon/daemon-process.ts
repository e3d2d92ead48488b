import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openApi, type ApiCaller } from '../api/api-caller.ts';
import { startOptions } from './start-options.ts';
import { testNetwork } from './test-network.ts';

/** The daemon as its users run it: a process of its own, spoken to over HTTP and signals. */
export interface DaemonProcess extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** The API, as the operator. */
  readonly api: ApiCaller;
  /** Every line it has logged so far, parsed. */
  readonly logs: readonly Record<string, unknown>[];
  /** What it has written to standard error so far. */
  errors(): string;
  /** Closes the pipe of its log, as a collector of logs that dies. */
  closeLog(): void;
  /** Sends a signal and resolves with the exit code, null when the signal killed it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** The operator's token in all tests. */
export const apiToken = 'token-of-the-operator-in-tests';

/** Compiled sources, which make each start but the first half a second shorter. */
const compiled = join(tmpdir(), 'filing-webhooks-test-compiled');

/** What every daemon under test runs with: quick polls, quick retries, callbacks to loopback, all lines. */
const testEnvironment: Readonly<Record<string, string>> = {
  PORT: '0',
  API_TOKEN: apiToken,
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  POLL_INTERVAL_MS: '200',
  DELIVERY_RETRY_MS: '100,200,400',
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
  DELIVERY_ALLOW_HTTP: 'true',
  LOG_LEVEL: 'debug',
};

/**
 * Starts the daemon as `npm start` does, with this environment and nothing of ours; resolves when its API
 * listens, or when it logs another line. `openFiles` is how many files it may have open.
 */
export async function startDaemonProcess(
  environment: Readonly<Record<string, string>>,
  untilLine = 'daemon.started',
  openFiles: number | null = null,
): Promise<DaemonProcess> {
  const child = spawnDaemon({ ...testEnvironment, ...environment }, openFiles);
  const logs: Record<string, unknown>[] = [];
  let errors = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.once('exit', (code) =>
      reject(new Error(`the daemon ended with ${code}: ${errors}${JSON.stringify(logs)}`)),
    );
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      logs.push(entry);
      if (entry['msg'] === untilLine) resolve(String(entry['url']));
    });
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    pid: child.pid ?? 0,
    url,
    api: openApi(url, apiToken),
    logs,
    errors: () => errors,
    closeLog: () => void child.stdout?.destroy(),
    end,
    async [Symbol.asyncDispose]() {
      await end('SIGKILL');
    },
  };
}

function spawnDaemon(environment: Readonly<Record<string, string>>, openFiles: number | null): ChildProcess {
  const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
  const [command, ...before] =
    openFiles === null
      ? [process.execPath]
      : ['/bin/sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, process.execPath];
  const [first = '', ...words] = [...(testNetwork?.command ?? []), command ?? '', ...before];
  return spawn(first, [...words, ...startOptions, main], {
    cwd: fileURLToPath(new URL('.', import.meta.url)), // no .env there
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: compiled,
      ...(testNetwork?.environment(environment) ?? environment),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
