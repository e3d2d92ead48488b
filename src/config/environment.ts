import { existsSync, readFileSync } from 'node:fs';
import { variables } from './variables.ts';
import { nearName } from '../words/near-name.ts';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A `.env` that cannot be read, or with values that programs read differently. A line of the message for each
 * problem says what to do.
 */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/**
 * `process.env`, completed from `file` (a `.env`) if that exists; `process.env` takes precedence. Throws
 * UnreadableFileError.
 */
export function readEnvironment(file: string): Environment {
  return existsSync(file) ? { ...readEnvFile(file), ...process.env } : process.env;
}

/** The values of a `.env`. Throws UnreadableFileError, also if there is no such file. */
export function readEnvFile(file: string): Environment {
  const { values, problems } = parseEnvFile(readText(file));
  if (problems.length === 0) return values;
  throw new UnreadableFileError(problems.map((problem) => `${file}, ${problem}`).join('\n'));
}

// An assignment: its name, the quotes that its value begins with, and the rest of the line.
const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=(?:[ \t]*('[^']*'|"[^"]*"))?(.*)$/gm;

/**
 * The values of a `.env` that a shell reads the same way or reports as errors; pure. Every other value of a
 * variable of this product is a problem that names line, variable and one sign. Lines without `NAME=` are
 * skipped.
 */
export function parseEnvFile(text: string): { values: Record<string, string>; problems: string[] } {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const match of text.matchAll(assignment)) {
    const [, name = '', quoted, rest = ''] = match;
    // A comment begins behind white space.
    const [plain = ''] = rest.split(/[ \t]#/, 1);
    values[name] = quoted?.slice(1, -1) ?? plain.trim();
    const sign = unclearSign(quoted ?? '', plain);
    const isOurs = Object.hasOwn(variables, name) || /^(?:FILING_WEBHOOKS|SANDBOX)_/.test(name);
    // Quotes that end before their value does may have taken other lines along.
    const isTorn = quoted !== undefined && plain.trim() !== '';
    if (sign === undefined || !(isOurs || isTorn)) continue;
    const line = text.slice(0, match.index).split('\n').length;
    problems.push(
      `line ${line}: ${name} has ${sign} in its value, which programs read differently there: write ${name}='…', with single quotes around the whole value`,
    );
  }
  return { values, problems };
}

// Nothing may stand behind quotes, double quotes hold no escapes, and `A=x B=y` sets two variables.
function unclearSign(quoted: string, plain: string): string | undefined {
  const outside = /^~|[#\\$`;&|<>()]/.exec(plain) ?? /["']/.exec(plain);
  const inside = quoted.startsWith('"') ? /[\\$`]/.exec(quoted) : null;
  const further = /^[^ \t]*[ \t].*=/.test(plain) ? '=' : undefined;
  return outside?.[0] ?? inside?.[0] ?? (plain.trim() === '' ? undefined : (quoted[0] ?? further));
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

/** A variable without surrounding space; null if it is unset or empty. */
export function textOf(env: Environment, name: string): string | null {
  const text = env[name]?.trim();
  return text === undefined || text === '' ? null : text;
}

/** The variables of `env`, and of `values` those that `env` has not set, or has empty. */
export function complete(env: Environment, values: Environment): Environment {
  const missing = Object.entries(values).filter(([name]) => textOf(env, name) === null);
  return { ...env, ...Object.fromEntries(missing) };
}

/** The problem of a value in quotes, which completes "NAME …"; null for one without quotes. */
export function quotesProblem(text: string): string | null {
  return /^(["'`]).*\1$/s.test(text)
    ? 'has quotes around its value that are part of it, as docker run --env-file leaves them: remove them'
    : null;
}

/**
 * A variable that the daemon does not read, and the one probably meant: a misspelt one, or the proxy of other
 * programs if the daemon has none.
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
 * The variables that differ from a known one by a few characters, and the proxy of other programs if the
 * daemon has none; pure.
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
