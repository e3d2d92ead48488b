import type { Environment } from '../config/config.ts';
import { CliError } from './cli-error.ts';

/** An option of a command, as `--help` shows it. `value` names its argument; a flag has none. */
export interface Option {
  readonly text: string;
  readonly value?: string;
  /** True when it may be given several times. */
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

/** The surroundings of a command. */
export interface Context {
  readonly env: Environment;
  /** Aborts when the user ends the command or the reader of its output is gone. */
  readonly signal: AbortSignal;
  /** Writes the result to standard output: one line or several. */
  out(text: string): void;
  /** Writes what accompanies the result to standard error. */
  note(text: string): void;
  /** Shows progress over the former progress, on a terminal only. */
  progress(text: string): void;
  /** Standard input to its end. */
  readInput(): Promise<Buffer>;
}

/** One command of the command line. */
export interface Command {
  /** The words that select the command. */
  readonly name: string;
  readonly summary: string;
  /** The arguments without options, as the usage shows them; empty for none. */
  readonly usage: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly examples: readonly string[];
  /** Resolves to the exit code. Rejects with a CliError. */
  run(input: Input, context: Context): Promise<number>;
}

/** The only argument of a command, called `what` in messages. Throws CliError for none and for several. */
export function onlyArgument({ positionals }: Input, what: string): string {
  const [first, ...others] = positionals;
  if (first === undefined) throw new CliError('usage', `${what} is missing: --help shows examples.`);
  if (others.length > 0)
    throw new CliError('usage', `Only one ${what} can be given, not ${positionals.length}.`);
  return first;
}

/** Throws CliError for more than `max` arguments. */
export function atMost({ positionals }: Input, max: number): void {
  const surplus = positionals[max];
  if (surplus !== undefined)
    throw new CliError('usage', `There is no argument "${surplus}": --help shows the usage.`);
}

/** An http or https address. Throws CliError for others; `from` names the option. */
export function urlFrom(text: string, from: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CliError('usage', `${from} must be an address such as http://127.0.0.1:3000.`);
  return url.href;
}

/** As `urlFrom`, for an address to which paths are appended: without a slash at its end. */
export function baseUrlFrom(text: string, from: string): string {
  return urlFrom(text, from).replace(/(?<!\/)\/+$/, '');
}
