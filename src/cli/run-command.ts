import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { readEnvironment, UnreadableFileError } from '../config/environment.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { type Command, type Context, type Input, type Option } from './command.ts';
import { meant, quoted } from '../words/near-name.ts';

/**
 * Runs the command that the first word names and resolves to the exit code. Failures are written to standard
 * error with what to do.
 */
export async function runCommand(
  words: readonly string[],
  commands: readonly Command[],
  context: Context,
): Promise<number> {
  const [first = 'help'] = words;
  if (['help', '--help', '-h'].includes(first)) return show(context, helpFor(words.slice(1), commands));
  if (['--version', '-v'].includes(first)) return show(context, packageJson.version);
  try {
    const command = findCommand(first, commands);
    const rest = words.slice(1);
    if (rest.includes('--help') || rest.includes('-h')) return show(context, helpOf(command));
    const input = readInput(command, rest);
    return await command.run(input, withFile(context, input.text('env-file')));
  } catch (error) {
    if (context.signal.aborted) return exitCodes.interrupted;
    if (!(error instanceof CliError)) throw error;
    context.note(`filing-webhooks: ${error.message}`);
    return error.exitCode;
  }
}

// Replaces the variables of this installation's `.env` by those of another file.
function withFile(context: Context, file: string | null): Context {
  if (file === null) return context;
  if (!existsSync(file)) throw new CliError('noInput', `There is no file ${file}: name one with --env-file.`);
  try {
    return { ...context, env: readEnvironment(file) };
  } catch (error) {
    throw error instanceof UnreadableFileError ? new CliError('noInput', `${error.message}.`) : error;
  }
}

function show(context: Context, text: string): number {
  context.out(text);
  return exitCodes.ok;
}

function helpFor([word]: readonly string[], commands: readonly Command[]): string {
  const command = commands.find(({ name }) => name === word);
  return command === undefined ? overview(commands) : helpOf(command);
}

function findCommand(word: string, commands: readonly Command[]): Command {
  const command = commands.find(({ name }) => name === word);
  if (command !== undefined) return command;
  const names = commands.map(({ name }) => name);
  const hint = meant(word, names).replace(/^; did you mean (.*)\?$/, ' Did you mean "$1"?');
  throw new CliError('usage', `There is no command ${quoted(word)}.${hint} There are ${names.join(', ')}.`);
}

function readInput(command: Command, words: readonly string[]): Input {
  const { values, positionals } = parse(command, words);
  return {
    positionals,
    text: (name) => textOf(values[name]),
    texts(name) {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : [];
    },
    flag: (name) => values[name] === true,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function parse(command: Command, words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...commonOptions }).map(([name, { value, multiple = false }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple } as const,
    ]),
  );
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    const [what = ''] = (error as Error).message.split('. ', 1);
    const [, wrong] = /^Unknown option '--([\w-]+)'/.exec(what) ?? [];
    const hint = wrong === undefined ? '' : meant(wrong, Object.keys(options)).replace('mean ', 'mean --');
    throw new CliError(
      'usage',
      `${what}${hint === '' ? ':' : hint} See filing-webhooks ${command.name} --help.`,
    );
  }
}

/** The options that every command has. */
const commonOptions: Readonly<Record<string, Option>> = {
  'env-file': {
    value: 'FILE',
    text: 'read variables from this file instead of the .env of the installation',
  },
};

/** The commands of the command line. */
function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'filing-webhooks COMMAND [OPTIONS]: a running filing-webhooks daemon from the terminal',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'filing-webhooks COMMAND --help shows its options and examples.',
    'The daemon: FILING_WEBHOOKS_URL (default http://127.0.0.1:3000) and FILING_WEBHOOKS_TOKEN or API_TOKEN, from the',
    'environment, the .env where filing-webhooks is installed, or a file that --env-file names.',
    '',
    'Exit codes: 0 done, 1 the answer is no (not genuine, replay with failures, something is wrong, no such thing), 64 the command is wrong,',
    '66 a file cannot be read, 69 the daemon or the sandbox does not answer, 77 the token was refused, 130 interrupted.',
  ].join('\n');
}

/** The usage of one command. */
function helpOf({ name, summary, usage, options, examples }: Command): string {
  const rows = Object.entries({ ...options, ...commonOptions, help: { text: 'this text' } }).map(
    ([option, about]) => [optionText(option, about), about.text] as const,
  );
  const width = Math.max(...rows.map(([option]) => option.length));
  return [
    `filing-webhooks ${name}${usage === '' ? '' : ` ${usage}`} [OPTIONS]: ${summary}`,
    '',
    ...rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`),
    '',
    'Examples',
    ...examples.map((example) => `  ${example}`),
  ].join('\n');
}

function optionText(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
