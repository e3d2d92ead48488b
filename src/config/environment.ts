import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A `.env` that exists and cannot be read, such as a directory. The message says what to do. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/**
 * `process.env`, completed from `file` (a `.env`) where that exists; `process.env` takes precedence. Throws
 * UnreadableFileError.
 */
export function readEnvironment(file: string): Environment {
  return existsSync(file) ? { ...parseEnv(readText(file)), ...process.env } : process.env;
}

// Windows editors put a byte order mark in front; `parseEnv` takes it for a part of the first name.
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new UnreadableFileError(
      `${file} cannot be read (${code}): remove it, or make it a file that the user of this process may read`,
      { cause: error },
    );
  }
}

/** A variable without space around it; null where it is not set, or empty. */
export function textOf(env: Environment, name: string): string | null {
  const text = env[name]?.trim();
  return text === undefined || text === '' ? null : text;
}
