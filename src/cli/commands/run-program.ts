import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../config/environment.ts';

/** A program of this installation, which runs in place of the command line. */
export interface Program {
  /** Its file below `src`, without the ending: `.ts` in the repository, `.js` in the published package. */
  readonly file: string;
  readonly nodeOptions: readonly string[];
}

/**
 * Runs a program with these variables. Where the system can, it takes the place of this process
 * and keeps its pid, so that a supervisor's signals and the exit code are its own, and nothing is returned.
 * Elsewhere (Windows) it is a child, and the promise resolves to its exit code.
 */
export async function runProgram({ file, nodeOptions }: Program, env: Environment): Promise<number> {
  const script = new URL(`../../${file}${extname(import.meta.filename)}`, import.meta.url);
  const args = [...nodeOptions, fileURLToPath(script)];
  if (process.platform !== 'win32' && process.execve !== undefined) {
    process.execve(process.execPath, [process.execPath, ...args], { ...env });
  }
  return await runChild(args, env);
}

/**
 * Runs Node as a child with the terminal of this process, passes on the signals that end a process, and
 * resolves to its exit code: 128 and the number of the signal where one killed it.
 */
export async function runChild(args: readonly string[], env: Environment): Promise<number> {
  const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
  const signals = ['SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  try {
    await once(child, 'close');
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
  return child.exitCode ?? 128 + constants.signals[child.signalCode ?? 'SIGKILL'];
}
