import type { Environment } from '../config/config.ts';
import { CliError } from './cli-error.ts';

/** An option of a command, as `--help` tells it. `value` names its argument; a flag has none. */
export interface Option {
  readonly text: string;
  readonly value?: string;
  /** Whether it may be given several times. */
  readonly multiple?: boolean;
}

/** The options and arguments that a command was given. */
export interface Input {
  readonly positionals: readonly string[];
  /** Null when it was not given. */
  text(name: string): string | null;
  /** Every value of an option that may be given several times. */
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

/** Where a command reads and writes. */
export interface Context {
  readonly env: Environment;
  /** Aborts when the user or the reader of the output wants it to end. */
  readonly signal: AbortSignal;
  /** What was asked for, on standard output: one line, or several. */
  out(text: string): void;
  /** What accompanies it, on standard error. */
  note(text: string): void;
  /** Shows progress in place of what was shown before, where somebody watches. */
  progress(text: string): void;
  /** Standard input to its end. */
  readInput(): Promise<Buffer>;
}

/** One command of the command line. */
export interface Command {
  /** The words that call it. */
  readonly name: string;
  readonly summary: string;
  /** What may follow the name besides options; empty for nothing. */
  readonly usage: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly examples: readonly string[];
  /** Resolves to the exit code. Rejects with a CliError. */
  run(input: Input, context: Context): Promise<number>;
}

/** The only argument of a command; refuses none (`what` says what is missing) and several. */
export function onlyArgument({ positionals }: Input, what: string): string {
  const [first, ...others] = positionals;
  if (first === undefined) throw new CliError('usage', `${what} is missing: --help shows examples.`);
  if (others.length > 0)
    throw new CliError('usage', `Only one ${what} can be given, not ${positionals.length}.`);
  return first;
}

/** Refuses arguments where there is room for `max` of them. */
export function atMost({ positionals }: Input, max: number): void {
  const surplus = positionals[max];
  if (surplus !== undefined) throw new CliError('usage', `Nothing is known to do with "${surplus}".`);
}

/** An http or https address; refuses others. `from` is where it was given. */
export function urlFrom(text: string, from: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CliError('usage', `${from} must be an address such as http://127.0.0.1:3000.`);
  return url.href;
}

/** The same for an address to which paths are appended: without a slash at its end. */
export function baseUrlFrom(text: string, from: string): string {
  return urlFrom(text, from).replace(/\/+$/, '');
}
