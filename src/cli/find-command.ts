import { meant, quoted } from '../words/near-name.ts';
import { CliError } from './cli-error.ts';
import type { Command } from './command.ts';

/** The command, or the commands, that the words of a command line name. */
export type Found =
  | { readonly kind: 'command'; readonly command: Command; readonly rest: readonly string[] }
  /** The first word begins several commands, or one, and none was chosen: their help is shown. */
  | { readonly kind: 'group'; readonly group: readonly Command[] };

/**
 * The command that the first words name, the longest name first; pure. Throws CliError with the nearest name
 * where there is none.
 */
export function findCommand(words: readonly string[], commands: readonly Command[]): Found {
  const [first = '', second] = words;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((known) => known.name === name);
    if (command === undefined || (length === 1 && isMisspelt(second, command, group))) continue;
    return { kind: 'command', command, rest: words.slice(length) };
  }
  const names = commands.map(({ name }) => name);
  if (group.length === 0)
    throw unknown(first, names, `There are ${[...new Set(names.map(firstWord))].join(', ')}.`);
  if (second === undefined || second.startsWith('-')) return { kind: 'group', group };
  const others = group.map(({ name }) => name.slice(first.length + 1));
  throw unknown(
    `${first} ${second}`,
    group.map(({ name }) => name),
    `After ${first} there may be ${others.join(', ')}.`,
  );
}

/** The commands that begin with a word: the one of that name first. */
export function groupOf(word: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ name }) => firstWord(name) === word);
}

function isMisspelt(word: string | undefined, { argument }: Command, group: readonly Command[]): boolean {
  return group.length > 0 && word !== undefined && !word.startsWith('-') && argument?.test(word) !== true;
}

function unknown(words: string, names: readonly string[], others: string): CliError {
  const hint = meant(words, names).replace(/^; did you mean (.*)\?$/, ' Did you mean "$1"?');
  return new CliError('usage', `There is no command ${quoted(words)}.${hint} ${others}`);
}

function firstWord(name: string): string {
  return name.split(' ', 1)[0] ?? '';
}
