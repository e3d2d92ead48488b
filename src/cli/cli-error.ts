import { readFile } from 'node:fs/promises';

/** Exit codes of the process: those of sysexits.h if one fits, 1 for a negative result, 130 after Ctrl-C. */
export const exitCodes = {
  ok: 0,
  no: 1,
  usage: 64,
  noInput: 66,
  unavailable: 69,
  refused: 77,
  interrupted: 130,
} as const;

/** Why a command failed. */
export type Failure = Exclude<keyof typeof exitCodes, 'ok' | 'interrupted'>;

/** Ends a command. The message describes the problem and what to do; it holds no secret. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(failure: Failure, message: string) {
    super(message);
    this.exitCode = exitCodes[failure];
  }
}

/** The bytes of a file that an option names. Throws a CliError if it cannot be read. */
export async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new CliError('noInput', `${file} cannot be read (${code}): check its name.`);
  }
}
