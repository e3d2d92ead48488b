import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { startOptions } from '../daemon/start-options.ts';
import type { CompletePoll } from '../journals/journals.ts';

/** A daemon under a supervisor that starts it again at once, whatever ended it. */
export interface SupervisedDaemon extends AsyncDisposable {
  /** Where its API listens, once it does; empty while it does not. */
  url(): string;
  /** Resolves when the present process has started its work. */
  untilStarted(): Promise<void>;
  /** Sends the present process a signal. */
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, whatever it does; resolves when it is gone. The next process is on its way then. */
  kill(): Promise<void>;
  /**
   * SIGTERM, or another signal; resolves with the exit code, null when the signal killed it. Nothing is
   * started again until `start`.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts it again, from now on with the entry of another copy of the tree if one is given. */
  start(entry?: string): void;
  pid(): number;
  /** All lines of all its processes, parsed. */
  readonly logs: readonly LogLine[];
  /** Polls that its lines call complete. */
  polls(): CompletePoll[];
}

/** A line of the daemon's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string; readonly time?: number };

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/**
 * Starts one with this environment and nothing of ours; `sources` is the entry of another copy of the tree.
 */
export function superviseDaemon(
  environment: Readonly<Record<string, string>>,
  sources = main,
): SupervisedDaemon {
  const logs: LogLine[] = [];
  let url = '';
  let errors = '';
  let wanted = true;
  let child: ChildProcess;
  let source = sources;

  function start(next = source): void {
    source = next;
    wanted = true;
    url = '';
    const started = spawn(process.execPath, [...startOptions, source], {
      cwd: fileURLToPath(new URL('.', import.meta.url)), // no .env there
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'debug', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    if (started.stdout !== null) createInterface({ input: started.stdout }).on('line', note);
    started.stderr?.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)));
    started.once('exit', () => {
      if (wanted && child === started) start();
    });
  }

  function note(line: string): void {
    // A killed process may leave half a line.
    if (!line.startsWith('{') || !line.endsWith('}')) return;
    const entry = JSON.parse(line) as LogLine;
    logs.push(entry);
    if (entry.msg === 'daemon.started' && entry['pid'] === child.pid) url = String(entry['url']);
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    if (ending.exitCode !== null || ending.signalCode !== null) return ending.exitCode;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
    return ending.exitCode;
  }

  start();
  return {
    url: () => url,
    untilStarted: () =>
      vi.waitFor(
        () => {
          if (url === '')
            throw new Error(`the daemon has not started: ${errors}${JSON.stringify(logs.slice(-3))}`);
        },
        { timeout: 60_000, interval: 20 },
      ),
    signal: (signal) => void child.kill(signal),
    kill: async () => void (await end('SIGKILL')),
    stop(signal = 'SIGTERM') {
      wanted = false;
      return end(signal);
    },
    start,
    pid: () => child.pid ?? 0,
    logs,
    polls: () => logs.filter(({ msg }) => msg === 'poll.completed').map(toPoll),
    async [Symbol.asyncDispose]() {
      wanted = false;
      await end('SIGKILL');
    },
  };
}

function toPoll({ account, time = 0, durationMs }: LogLine): CompletePoll {
  // Both are rounded; a poll that seems shorter than it was promises too much.
  return { account: String(account), from: time - Number(durationMs) - 2, to: time };
}
