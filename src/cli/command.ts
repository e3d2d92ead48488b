import type { Environment } from '../config/environment.ts';
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
  /** The user's answer to a yes-or-no question; null if there is no terminal to ask at. */
  confirm(question: string): Promise<boolean | null>;
}

/** One command of the command line. */
export interface Command {
  /** The word that selects the command. */
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

/** A time with its zone in ISO 8601, or null. Throws CliError for others. */
export function timeOf(input: Input, option: string): string | null {
  const text = input.text(option);
  if (text !== null && !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(text))
    throw new CliError('usage', `--${option} must be a time with its zone, such as 2026-11-21T10:00:00Z.`);
  return text;
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a span such as `90s`, `30m`, `12h` or `7d`, or null. Throws CliError for others. */
export function spanOf(input: Input, option: string): number | null {
  const text = input.text(option);
  if (text === null) return null;
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new CliError('usage', `--${option} must be a span such as 30m, 12h or 7d.`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/**
 * Resolves if the user agrees, or has agreed beforehand with `--yes`. Throws CliError if they do not, or if
 * there is no terminal to ask at.
 */
export async function agree(input: Input, context: Context, question: string): Promise<void> {
  if (input.flag('yes')) return;
  const answer = await context.confirm(question);
  if (answer === true) return;
  throw answer === null
    ? new CliError('usage', `${question} Say so with --yes: there is no terminal to ask at.`)
    : new CliError('no', 'Nothing was done.');
}

/** The option of commands that ask first. */
export const yesOption = { yes: { text: 'do not ask' } } satisfies Record<string, Option>;

/**
 * An http or https address, also without its scheme: a port (`8080`, `:8080/hooks`) or a name of this
 * machine is http, another host https. Throws CliError for others; `from` names the option.
 */
export function addressFrom(text: string, from: string): string {
  const ofPort = text.replace(/^:?(?=\d{1,5}(\/|$))/, '127.0.0.1:');
  const isHost = /^(localhost|\[[\da-f:]+\]|[\w-]+(\.[\w-]+)+)(:\d{1,5})?(\/|$)/i.test(ofPort);
  const scheme = /^(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(ofPort) ? 'http' : 'https';
  const url = URL.parse(isHost ? `${scheme}://${ofPort}` : text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new CliError(
    'usage',
    `${from} must be an address such as 8080, localhost:8080 or https://hooks.example.com.`,
  );
}

/** An address without a slash at its end, for paths to be appended; else as `addressFrom`. */
export function baseUrlFrom(text: string, from: string): string {
  return addressFrom(text, from).replace(/(?<!\/)\/+$/, '');
}

/** Writes a result: as JSON if the user asked for it, otherwise as text. */
export function write(input: Input, context: Context, result: unknown, text: string): void {
  context.out(input.flag('json') ? JSON.stringify(result) : text);
}
