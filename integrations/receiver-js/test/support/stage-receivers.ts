import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A receiver in a process of its own, which can be killed. */
export interface ReceiverProcess {
  readonly url: string;
  /** Resolves when a handler has begun and is not done. */
  inHandler(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts `receiver-process.ts`; the settings are its environment. */
export async function startReceiverProcess(
  settings: Readonly<Record<string, string>>,
): Promise<ReceiverProcess> {
  const program = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(tmpdir(), 'receiver-compiled'), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [url] = (await once(lines, 'line')) as [string];
  let handling = 0;
  lines.on('line', (line) => (handling += line === 'begin' ? 1 : -1));
  return {
    url,
    async inHandler() {
      while (handling === 0) await once(lines, 'line');
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
