import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { variables } from './variables.ts';
import { nearName } from '../words/near-name.ts';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A `.env` that cannot be read. The message says what to do. */
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

// Windows editors put a byte order mark in front.
function readText(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    if (text.includes('\0')) throw Object.assign(new Error('UTF-16'), { code: 'no UTF-8 text' });
    return text;
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

/** The problem of a value with quotes around it, which completes "NAME …"; null without them. */
export function quotesProblem(text: string): string | null {
  return /^(["'`]).*\1$/s.test(text)
    ? 'has quotes around its value that are part of it, as docker run --env-file leaves them: remove them'
    : null;
}

/**
 * A variable that the daemon does not read, and the one that is probably meant: a misspelt one, or the proxy
 * of other programs where the daemon has none.
 */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

// A process has tens of variables; one with thousands is not looked through.
const lookedThroughMax = 1_000;
// Maximum characters in which a misspelt variable differs.
const differingMax = 2;
// Minimum characters of a variable that others may be taken for: HOST and PORT are near too many words.
const shortestCompared = 5;

/**
 * The variables that differ from a known one by a few characters, and the proxy of other programs where this
 * one has none; pure.
 */
export function findMisspelt(env: Environment): MisspeltVariable[] {
  return [...findNear(env), ...findOtherProxy(env)];
}

function findNear(env: Environment): MisspeltVariable[] {
  const known = Object.keys(variables);
  return Object.keys(env)
    .slice(0, lookedThroughMax)
    .filter((name) => !Object.hasOwn(variables, name) && textOf(env, name) !== null)
    .flatMap((name) => {
      const meant = nearName(name, known, differingMax);
      return meant === null || meant.length < shortestCompared ? [] : [{ name, meant }];
    });
}

// Variables from which other programs read their proxy.
const otherProxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

function findOtherProxy(env: Environment): MisspeltVariable[] {
  const name = otherProxies.find((each) => textOf(env, each) !== null);
  const isMeant = name !== undefined && textOf(env, 'EGRESS_PROXY') === null;
  return isMeant ? [{ name, meant: 'EGRESS_PROXY' }] : [];
}
