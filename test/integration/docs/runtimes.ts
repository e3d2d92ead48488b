import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { skipIfFails } from '../../support/skip-without.ts';

/** How a verifier of docs/verification is run. */
export interface Runtime {
  /** Relative to docs/verification. */
  readonly file: string;
  /** A command that succeeds where the verifier can be run. */
  readonly probe: readonly [command: string, ...args: string[]];
  /** Compiles into an empty directory where that is needed; returns the command, without the two files. */
  readonly prepare: (directory: string) => Promise<readonly string[]>;
}

const root = join(import.meta.dirname, '../../../docs/verification');
const runFile = promisify(execFile);

/** Every language that docs/endpoints/signatures.md shows a verifier in. */
export const publicKeyRuntimes: readonly Runtime[] = [
  interpreted('public-key/node.mjs', process.execPath),
  {
    ...interpreted('public-key/python.py', 'python3'),
    probe: ['python3', '-c', 'import cryptography; print(cryptography.__version__)'],
  },
  {
    ...interpreted('public-key/verify.php', 'php'),
    probe: ['php', '-r', 'exit(function_exists("sodium_crypto_sign_verify_detached") ? 0 : 1);'],
  },
  java('public-key/Verify.java'),
  go('public-key/main.go'),
];

/** Why a verifier is not run on this machine; null when it can be, or has to be where tools are required. */
export function unusable({ probe: [command, ...args] }: Runtime): string | null {
  if (!skipIfFails(command, ...args)) return null;
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === null) return `there is no ${command} here`;
  return status === 0 && stdout.trim() !== '' ? null : `${command} does not work here`;
}

function interpreted(file: string, command: string): Runtime {
  return {
    file,
    probe: [command, '--version'],
    prepare: () => Promise.resolve([command, join(root, file)]),
  };
}

function java(file: string): Runtime {
  return {
    file,
    probe: ['javac', '--version'],
    async prepare(directory) {
      await runFile('javac', ['-Xlint:all', '-d', directory, join(root, file)]);
      return ['java', '-cp', directory, 'Verify'];
    },
  };
}

function go(file: string): Runtime {
  return {
    file,
    probe: ['go', 'version'],
    async prepare(directory) {
      // Its cache outside of the directory has the standard library compiled, once for all programs.
      const env = { ...process.env, GO111MODULE: 'off' };
      await runFile('go', ['build', '-o', join(directory, 'verify'), join(root, file)], { env });
      return [join(directory, 'verify')];
    },
  };
}
