import { describe, expect, test } from 'vitest';
import { addressFrom, type Command, type Context } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { eventCount, progressBar } from '../../../src/cli/commands/replay.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
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
    [
      'listn',
      /no command "listn"\. Did you mean "listen"\? There are start, demo, sandbox, status, listen, tail/,
    ],
    ['nothing-like-it', /no command "nothing-like-it"\. There are start/],
    ['start now', /There is no argument "now"/],
    ['sandbox --port 1', /Unknown option '--port'/],
    ['trigge', /no command "trigge"\. Did you mean "trigger"\?/],
    ['listen --nothing', /Unknown option '--nothing'.*listen --help/],
    ['listen --typs a', /Unknown option '--typs'; did you mean --types\? See filing-webhooks listen --help/],
    ['listen http://127.0.0.1:8080/', /did you mean --forward-to http:\/\/127\.0\.0\.1:8080\/\?/],
    ['listen 8080', /did you mean --forward-to 8080\?/],
    ['listen', /--forward-to URL is missing/],
    ['listen --forward-to ftp://a', /--forward-to must be an address such as 8080, localhost:8080/],
    ['tail --token t --types ping', /ping is sent by a test alone and is in no log/],
    [
      'tail --token t --types filing.rejectd',
      /"filing.rejectd" is no event type; did you mean filing.rejected\?/,
    ],
    ['listen --forward-to http://a --secret whsec_x', /The secret is not valid: a secret is whsec_/],
    ['listen --forward-to http://a', /No token: set API_TOKEN/],
    ['status --url nowhere', /--url .* must be an address/],
    ['api', /METHOD must be one of GET, POST/],
    ['api FETCH /subscriptions', /METHOD must be one of GET, POST/],
    ['api GET subscriptions', /PATH must begin with \//],
    ['api GET /filings?q=a b', /no argument "b": quote the path/],
    ['api POST /subscriptions --token t --data {url}', /--data is not JSON/],
    ['api DELETE /subscriptions/sub_1 --token t', /Delete \/subscriptions\/sub_1\? Say so with --yes/],
    ['replay sub_1 --token t --last week', /--last must be a span such as/],
    ['replay sub_1 --token t --last 1h --after 2026-11-21T10:00:00Z', /--last and --after say the same/],
    [
      'trigger filing.completed --reason x',
      /filing.completed has no reason: --reason is for filing.rejected/,
    ],
    ['replay', /SUBSCRIPTION is missing: --help/],
    ['replay sub_1 --token t --after yesterday', /--after must be a time .*such as 2026/],
    ['replay sub_1 --token t --before 2026-11-21T10:00:00', /--before must be a time with its zone/],
    ['trigger', /TYPE is missing. These can be triggered: filing.created, .*filing.removed/],
    ['trigger filing.xyzzy', /filing.xyzzy cannot be triggered\. These can be triggered: filing.created/],
    ['trigger filing.rejectd', /did you mean filing.rejected\? These can/],
    ['verify', /No secret: set FILING_WEBHOOKS_SECRET/],
  ])('%s ends with 64 and says what to do', async (words, message) => {
    const { exitCode, out, notes } = await run(words);
    expect({ exitCode, out }).toEqual({ exitCode: 64, out: '' });
    expect(notes).toMatch(message);
  });

  test('an address where nothing answers ends with 69, and the token is not printed', async () => {
    const { exitCode, notes } = await run('api GET /subscriptions', commands, {
      FILING_WEBHOOKS_URL: 'http://127.0.0.1:1',
      API_TOKEN: 'a-secret-token',
    });
    expect(exitCode).toBe(69);
    expect(notes).toMatch(/Nothing answers at http:\/\/127\.0\.0\.1:1 .*start the daemon/);
    expect(notes).not.toContain('a-secret-token');
  });
});

test.each([
  ['8080', 'http://127.0.0.1:8080/'],
  [':8080/hooks', 'http://127.0.0.1:8080/hooks'],
  ['localhost:8080', 'http://localhost:8080/'],
  ['[::1]:8080/a', 'http://[::1]:8080/a'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080/'],
  ['hooks.example.com/a', 'https://hooks.example.com/a'],
  ['localhost.example.com:8080', 'https://localhost.example.com:8080/'],
  ['http://hooks.example.com/a', 'http://hooks.example.com/a'],
])('%s is the address %s', (text, url) => {
  expect(addressFrom(text, '--url')).toBe(url);
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

test.each([
  [0, '0 events'],
  [1, '1 event'],
  [2, '2 events'],
])('a replay of %i says %j', (count, text) => {
  expect(eventCount(count)).toBe(text);
});
