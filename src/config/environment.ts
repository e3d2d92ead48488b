import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `process.env`, completed from `file` (a `.env`) where that exists; `process.env` takes precedence. */
export function readEnvironment(file: string): Environment {
  return existsSync(file) ? { ...parseEnv(readFileSync(file, 'utf8')), ...process.env } : process.env;
}

/** A variable without space around it; null where it is not set, or empty. */
export function textOf(env: Environment, name: string): string | null {
  const text = env[name]?.trim();
  return text === undefined || text === '' ? null : text;
}
