import { describe, expect, test } from 'vitest';
import type { Command, Context } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { progressBar } from '../../../src/cli/commands/subscriptions/replay.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { formatTable } from '../../../src/cli/table.ts';
import packageJson from '../../../package.json' with { type: 'json' };

async function run(words: string, known: readonly Command[] = commands, env: Record<string, string> = {}) {
  const out: string[] = [];
  const notes: string[] = [];
  const context: Context = {
    env,
    signal: new AbortController().signal,
    out: (text) => void out.push(text),
    note: (text) => void notes.push(text),
    progress: () => undefined,
    readInput: async () => Buffer.from(''),
    confirm: async () => null,
  };
  const exitCode = await runCommand(words.split(' '), known, context);
  return { exitCode, out: out.join('\n'), notes: notes.join('\n') };
}

describe('the command line', () => {
  test.each(['help', '--help', '-h'])('%s names every command', async (words) => {
    const { exitCode, out } = await run(words);
    expect(exitCode).toBe(0);
    for (const { name } of commands) expect(out).toContain(`  ${name} `);
  });

  test.each(commands.map(({ name }) => name))(
    '%s --help shows every option and the examples',
    async (name) => {
      const command = commands.find((known) => known.name === name);
      const { exitCode, out } = await run(`${name} --help`);
      expect(exitCode).toBe(0);
      for (const option of Object.keys(command?.options ?? {})) expect(out).toContain(`--${option}`);
      for (const example of command?.examples ?? []) expect(out).toContain(example);
      expect(await run(`help ${name}`)).toEqual({ exitCode, out, notes: '' });
    },
  );

  test('--version prints the version', async () => {
    expect(await run('--version')).toMatchObject({ exitCode: 0, out: packageJson.version });
  });

  test.each([
    ['listn', /no command "listn".*listen, trigger/],
    ['listen --nothing', /Unknown option '--nothing'.*listen --help/],
    ['listen', /--forward-to URL is missing/],
    ['listen --forward-to ftp://a', /--forward-to must be an address/],
    ['listen --forward-to http://a --secret whsec_x', /The secret is not valid: a secret is whsec_/],
    ['listen --forward-to http://a', /No token: set API_TOKEN/],
    ['subscriptions --url nowhere', /--url .* must be an address/],
    ['subscriptions a b', /no argument "b"/],
    ['replay', /SUBSCRIPTION is missing: --help/],
    ['replay sub_1 --token t --after yesterday', /--after must be a time .*such as 2026/],
    ['replay sub_1 --token t --before 2026-11-21T10:00:00', /--before must be a time with its zone/],
    ['keys 2026-06', /no argument "2026-06"/],
    ['trigger', /TYPE is missing/],
    ['trigger filing.eaten', /filing.eaten cannot be triggered; these can: filing.created/],
    ['verify', /No secret: set FILING_WEBHOOKS_SECRET/],
  ])('%s ends with 64 and says what to do', async (words, message) => {
    const { exitCode, out, notes } = await run(words);
    expect({ exitCode, out }).toEqual({ exitCode: 64, out: '' });
    expect(notes).toMatch(message);
  });

  test('an address where nothing answers ends with 69, and the token is not printed', async () => {
    const { exitCode, notes } = await run('subscriptions', commands, {
      FILING_WEBHOOKS_URL: 'http://127.0.0.1:1',
      API_TOKEN: 'a-secret-token',
    });
    expect(exitCode).toBe(69);
    expect(notes).toMatch(/Nothing answers at http:\/\/127\.0\.0\.1:1 .*start the daemon/);
    expect(notes).not.toContain('a-secret-token');
  });
});

test('a table is as wide as its cells, and nothing in it moves the cursor', () => {
  const columns = [
    { heading: 'A', text: (row: string) => row },
    { heading: 'LENGTH', text: (row: string) => row.length },
    { heading: 'NONE', text: () => null },
  ];
  expect(formatTable(columns, ['abc', '\u001b[31m'])).toBe(
    ['A      LENGTH  NONE', 'abc    3       -', '\u{fffd}[31m  5       -'].join('\n'),
  );
});

test.each([
  [
    { state: 'running', matched: 4, delivered: 1, failed: 1 },
    `[${'#'.repeat(15)}${'-'.repeat(15)}] 1 of 4 delivered, 1 failed`,
  ],
  [{ state: 'running', matched: 0, delivered: 0, failed: 0 }, `[${'#'.repeat(30)}] 0 of 0 delivered`],
  [{ state: 'finished', matched: 2, delivered: 2, failed: 0 }, `[${'#'.repeat(30)}] 2 of 2 delivered`],
] as const)('the bar of %o', (progress, bar) => {
  expect(progressBar(progress)).toBe(bar);
});
