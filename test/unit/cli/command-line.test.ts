import { describe, expect, test } from 'vitest';
import { receiverUrl, type Command, type Context } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { pingLine } from '../../../src/cli/commands/subscriptions/change.ts';
import { eventCount, progressBar } from '../../../src/cli/commands/subscriptions/replay.ts';
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
    [
      'listn',
      /no command "listn"\. Did you mean "listen"\? There are start, demo, sandbox, status, listen, trigger/,
    ],
    ['nothing-like-it', /no command "nothing-like-it"\. There are start/],
    [
      'subscriptions crate',
      /no command "subscriptions crate"\. Did you mean "subscriptions create"\?.*rotate-secret/,
    ],
    ['start now', /There is no argument "now"/],
    ['sandbox --port 1', /Unknown option '--port'/],
    ['tokens list me', /no command "tokens list".*create, revoke/],
    ['events tial', /no command "events tial"\. Did you mean "events tail"\?/],
    ['listen --nothing', /Unknown option '--nothing'.*listen --help/],
    ['listen --typs a', /Unknown option '--typs'; did you mean --types\? See filing-webhooks listen --help/],
    ['subscriptions create https://a --status REJECTED', /did you mean --statuses\?/],
    ['listen http://127.0.0.1:8080/', /did you mean --forward-to http:\/\/127\.0\.0\.1:8080\/\?/],
    ['listen 8080', /did you mean --forward-to 8080\?/],
    ['listen', /--forward-to URL is missing/],
    ['listen --forward-to ftp://a', /--forward-to must be an address such as 8080, localhost:8080/],
    ['events tail --token t --types ping', /ping is sent by a test alone and is in no log/],
    [
      'events tail --token t --types filing.rejectd',
      /"filing.rejectd" is no event type; did you mean filing.rejected\?/,
    ],
    ['listen --forward-to http://a --secret whsec_x', /The secret is not valid: a secret is whsec_/],
    ['listen --forward-to http://a', /No token: set API_TOKEN/],
    ['subscriptions --url nowhere', /--url .* must be an address/],
    ['subscriptions sub_a b', /no argument "b"/],
    ['subscriptions create', /ENDPOINT is missing/],
    ['subscriptions create https://a --header nothing --token t', /--header must be a name and a value/],
    ['subscriptions rotate-secret sub_1 --grace soon', /--grace must be a span such as 30m/],
    ['replay sub_1 --token t --last week', /--last must be a span such as/],
    ['replay sub_1 --token t --last 1h --after 2026-11-21T10:00:00Z', /--last and --after say the same/],
    ['tokens create', /--name NAME is missing/],
    ['accounts add acme', /--service URL is missing/],
    ['accounts add acme --service https://a/v1', /No key: set PARTNER_KEY/],
    ['filings --token t --limit 0', /--limit must be a number from 1 to 100/],
    [
      'trigger filing.completed --reason x',
      /filing.completed has no reason: --reason is for filing.rejected/,
    ],
    ['replay', /SUBSCRIPTION is missing: --help/],
    ['replay sub_1 --token t --after yesterday', /--after must be a time .*such as 2026/],
    ['replay sub_1 --token t --before 2026-11-21T10:00:00', /--before must be a time with its zone/],
    ['keys 2026-06', /no argument "2026-06"/],
    ['trigger', /TYPE is missing. These can be triggered: filing.created, .*filing.removed/],
    ['trigger filing.xyzzy', /filing.xyzzy cannot be triggered\. These can be triggered: filing.created/],
    ['trigger filing.rejectd', /did you mean filing.rejected\? These can/],
    ['verify', /No secret: set FILING_WEBHOOKS_SECRET/],
  ])('%s ends with 64 and says what to do', async (words, message) => {
    const { exitCode, out, notes } = await run(words);
    expect({ exitCode, out }).toEqual({ exitCode: 64, out: '' });
    expect(notes).toMatch(message);
  });

  test.each(['events', 'events --help', 'help events'])('%s shows the help of events tail', async (words) => {
    expect(await run(words)).toEqual(await run('events tail --help'));
  });

  test.each(['subscriptions --help', 'help subscriptions', 'links', 'tokens --help'])(
    '%s shows the commands that begin so',
    async (words) => {
      const { exitCode, out } = await run(words);
      const [first = ''] = words.replace('help ', '').split(' ');
      expect(exitCode).toBe(0);
      const group = commands.filter(({ name }) => name.startsWith(`${first} `));
      for (const { name } of group) expect(out).toContain(name);
    },
  );

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

test.each([
  ['8080', 'http://127.0.0.1:8080/'],
  [':8080/hooks', 'http://127.0.0.1:8080/hooks'],
  ['localhost:8080', 'http://localhost:8080/'],
  ['[::1]:8080/a', 'http://[::1]:8080/a'],
  ['hooks.example.com/a', 'http://hooks.example.com/a'],
  ['https://hooks.example.com/a', 'https://hooks.example.com/a'],
])('%s is the receiver at %s', (text, url) => {
  expect(receiverUrl(text, '--forward-to')).toBe(url);
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

test('the response to a ping does not move the cursor either', () => {
  const ping = { outcome: 'delivered', reason: null, statusCode: 200, durationMs: 1.4 };
  expect(pingLine({ ...ping, response: 'a\u001b[2J\n\u009b2J\u202eb' })).toBe(
    'delivered: status 200 in 1 ms\n"a\\u001b[2J\\n\u{fffd}2J\u{fffd}b"',
  );
  expect(pingLine({ ...ping, response: '' })).toBe('delivered: status 200 in 1 ms');
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
