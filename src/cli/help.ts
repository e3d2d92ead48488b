import type { Command, Option } from './command.ts';

/** The options that every command has. */
export const commonOptions: Readonly<Record<string, Option>> = {
  'env-file': {
    value: 'FILE',
    text: 'read variables from this file instead of the .env of the installation',
  },
};

/** The commands of the command line. */
export function overview(commands: readonly Command[]): string {
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
export function helpOf({ name, summary, usage, options, examples }: Command): string {
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
