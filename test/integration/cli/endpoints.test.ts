import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import type { Context } from '../../../src/cli/command.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { operatorToken } from '../../support/daemon/product.ts';
import { createTestAuthority } from '../../support/receivers/certificates.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { skipWithout } from '../../support/skip-without.ts';
import { captureCallback } from '../docs/captured-callback.ts';

const redis = testRedis();
const secret = 'a-client-secret-that-is-nowhere';
let api: ApiFixture;
let url: string;
let path: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-endpoints-'));
  api = await createApiFixture(redis.connect(), redis.prefix);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  path = `${await api.createAccount('default')}/subscriptions`;
});
afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
  await rm(folder, { recursive: true, force: true });
});

/** A run of the command line in this process, towards the API. */
async function run(words: readonly string[], input = '') {
  const [out, notes]: [string[], string[]] = [[], []];
  const context: Context = {
    env: { API_TOKEN: operatorToken, FILING_WEBHOOKS_URL: url },
    signal: new AbortController().signal,
    out: (text) => void out.push(text),
    note: (text) => void notes.push(text),
    progress: () => undefined,
    readInput: async () => Buffer.from(input),
    confirm: async () => null,
  };
  const exitCode = await runCommand(words, commands, context);
  return { exitCode, out: out.join('\n'), notes: notes.join('\n') };
}

async function json(words: readonly string[], input = '') {
  const answer = await run([...words, '--json'], input);
  expect(answer).toMatchObject({ exitCode: 0 });
  expect(answer.out + answer.notes).not.toContain(secret);
  return JSON.parse(answer.out) as Record<string, unknown> & { id: string };
}

async function fileWith(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

const authWords = [
  '--auth-token-url',
  'http://127.0.0.1:9000/token',
  '--auth-client-id',
  'filings',
  '--auth-scope',
  'a b',
  '--auth-audience',
  'hooks',
  '--auth-by',
  'post',
];

test('a preview moves the cursor of no terminal, whatever the ids of its filings are', async () => {
  await api.createAccount('odd');
  await api.putFilings('odd', [{ id: 'f\u001b[2J\u009b2J\n', status: 'PAID', type: 'filing.paid' }]);
  const { out } = await run(['subscriptions', 'preview', '--account', 'odd']);
  expect(out).toMatch(/\n {2}evt_\w+ {2}filing\.paid {2}f\u{fffd}\[2J\u{fffd}2J\u{fffd}$/u);
});

describe('settings of an endpoint', () => {
  test('are given at the creation, with the secret from a file, and changed one by one', async () => {
    const file = await fileWith('secret.txt', `${secret}\n`);
    const limits = ['--rate', '0.5', '--timeout', '800ms', '--retry', '5s, 5m,1h', '--max-in-flight', '2'];
    const made = await json([
      'subscriptions',
      'create',
      hookUrl,
      ...authWords,
      '--auth-client-secret-file',
      file,
      ...limits,
      '--verification',
      'challenge',
      '--signatures',
      'v1,v1a',
      '--payload',
      'thin',
    ]);
    expect(made).toMatchObject({
      auth: { clientId: 'filings', scope: 'a b', audience: 'hooks', clientAuthentication: 'post' },
      rate: 0.5,
      timeoutMs: 800,
      retryMs: [5_000, 300_000, 3_600_000],
      maxInFlight: 2,
      verification: 'challenge',
      signatures: ['v1', 'v1a'],
      payload: 'thin',
    });
    const stored = await api.deps.subscriptions.get('default', made.id);
    expect(stored?.subscription.auth?.clientSecret).toBe(secret);
    const update = ['subscriptions', 'update', made.id];
    expect(await json([...update, '--rate', 'default', '--timeout', 'default'])).toMatchObject({
      auth: { clientId: 'filings' },
      rate: null,
      timeoutMs: null,
      maxInFlight: 2,
    });
    const another = [...update, ...authWords, '--auth-client-secret-file', '-'];
    await json(another, 'from standard input');
    expect((await api.deps.subscriptions.get('default', made.id))?.subscription.auth?.clientSecret).toBe(
      'from standard input',
    );
    expect(await json([...update, '--auth', 'none', '--retry', 'default'])).toMatchObject({
      auth: null,
      retryMs: null,
    });
  });

  test('an expiry is a time, or a span from now on, and never takes it away', async () => {
    const create = ['subscriptions', 'create', hookUrl, '--expires'];
    const { id, expiresAt } = await json([...create, '2100-01-01T01:00:00+01:00']);
    expect(expiresAt).toBe('2100-01-01T00:00:00.000Z');
    const update = ['subscriptions', 'update', id, '--expires'];
    const renewed = await json([...update, '30d']);
    const days = (Date.parse(String(renewed['expiresAt'])) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(30, 1);
    expect(await json([...update, 'never'])).toMatchObject({ expiresAt: null });
    const past = await run([...update, '2001-01-01T00:00:00Z']);
    expect(past).toMatchObject({ exitCode: 64, out: '' });
    expect(past.notes).toMatch(/expiresAt must lie in the future/);
  });

  test.skipIf(skipWithout('openssl'))('take certificates from files, and pins', async () => {
    await using authority = await createTestAuthority();
    const { cert, key } = await authority.issue('alice');
    const pins = ['a', 'b'].map((letter) => Buffer.alloc(32, letter).toString('base64'));
    const files = [
      '--tls-cert-file',
      await fileWith('cert.pem', cert),
      '--tls-key-file',
      await fileWith('key.pem', key),
      '--tls-ca-file',
      await fileWith('ca.pem', authority.cert),
      ...pins.flatMap((pin) => ['--tls-pin', pin]),
    ];
    const made = await json(['subscriptions', 'create', 'https://hooks.example.com/tls', ...files]);
    expect(made).toMatchObject({
      tls: { cert: { subject: 'CN=alice' }, ca: { subject: 'CN=test authority' }, pin: pins },
    });
    expect(await json(['subscriptions', 'update', made.id, '--tls', 'none'])).toMatchObject({ tls: null });
  });

  test.each([
    [['--auth-token-url', 'https://a/token'], 64, /--auth-client-id is missing: .* together/],
    [authWords, 64, /--auth-client-secret-file is missing/],
    [['--auth', 'oauth2'], 64, /--auth takes only none/],
    [['--tls', 'none', '--tls-pin', 'x'], 64, /no other option of tls/],
    [['--tls-cert-file', '/nowhere/cert.pem'], 66, /\/nowhere\/cert\.pem cannot be read \(ENOENT\)/],
    [['--tls-key-file', '-'], 66, /--tls-key-file - is empty/],
    [['--tls-key-file', '-', '--auth-client-secret-file', '-'], 64, /Only one file can be standard input/],
    [['--rate', 'fast'], 64, /--rate must be a number, or default/],
    [['--retry', '5s,soon'], 64, /--retry takes spans such as 800ms/],
    [['--expires', 'soon'], 64, /--expires must be a span such as 12h or 30d, a time with its zone/],
    [['--expires', '2100-01-01'], 64, /--expires must be a time with its zone/],
    [['--auth-client-secret', secret], 64, /Unknown option '--auth-client-secret'/],
  ])('%j end with what to do', async (words, exitCode, message) => {
    const answer = await run(['subscriptions', 'create', hookUrl, ...words]);
    expect(answer).toMatchObject({ exitCode, out: '' });
    expect(answer.notes).toMatch(message);
    expect(answer.notes).not.toContain(secret);
  });
});

test('a preview says what matches, and with --json what the API says', async () => {
  await api.putFilings(
    'default',
    ['TX', 'CA'].map((state, i) => {
      const document = { id: `f_${state}`, state, premium: 5_000 * (i + 1) };
      return { id: `f_${state}`, status: 'PENDING', type: 'filing.pending', document };
    }),
  );
  const words = ['subscriptions', 'preview', '--filter', 'filing.premium > 6000'];
  const { out } = await run(words);
  expect(out).toMatch(/^1 of the latest 2 events match\.\n {2}evt_\S+ {2}filing\.pending {2}f_CA$/);
  expect(await json([...words, '--last', '1'])).toMatchObject({ matched: 1, of: 1, undecided: 0 });
  expect((await run(['subscriptions', 'preview', '--filter', 'filing.premium >'])).notes).toMatch(/filter/);
  expect(await run(['subscriptions', 'preview', '--last', '0'])).toMatchObject({ exitCode: 64 });
});

describe('verify with a JWKS', () => {
  test('takes it from an address and from a file, and no key of another subscription', async () => {
    const [one, other] = [
      await api.ok('POST', path, { url: hookUrl, signatures: ['v1a'] }),
      await api.ok('POST', path, { url: hookUrl, signatures: ['v1a'] }),
    ];
    const stored = await api.deps.subscriptions.get('default', String(one['id']));
    const { headers, body } = await captureCallback([], Date.now(), {
      secrets: stored?.subscription.secrets ?? [],
    });
    const callback = [
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((name) => [
        '--header',
        `${name}: ${headers[name]}`,
      ]),
      '--body',
      await fileWith('body.json', body.toString()),
    ];
    const published = (id: unknown) => `${url}/.well-known/webhook-keys?subscription=${String(id)}`;
    const verified = (keys: string) => run(['verify', '--keys', keys, ...callback]);
    expect(await verified(published(one['id']))).toMatchObject({ exitCode: 0 });
    expect(await verified(published(other['id']))).toMatchObject({ exitCode: 1 });
    const text = await (await fetch(published(one['id']))).text();
    expect(await verified(await fileWith('keys.json', text))).toMatchObject({ exitCode: 0 });
    // Keys of other kinds are of no account.
    const mixed = { keys: [{ kty: 'RSA' }, null, ...(JSON.parse(text) as { keys: object[] }).keys] };
    expect(await verified(await fileWith('mixed.json', JSON.stringify(mixed)))).toMatchObject({
      exitCode: 0,
    });
  });

  test.each([
    ['{"keys":[{"kty":"RSA"}]}', 1, /has no ed25519 key: it must be a JWKS/],
    ['no JSON', 1, /has no ed25519 key/],
    ['null', 1, /has no ed25519 key/],
    ['{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}', 64, /The public key is not valid/],
  ])('refuses %s', async (text, exitCode, message) => {
    const answer = await run(['verify', '--keys', await fileWith('wrong.json', text)]);
    expect(answer).toMatchObject({ exitCode });
    expect(answer.notes).toMatch(message);
  });

  test('says which file or address cannot be read', async () => {
    expect(await run(['verify', '--keys', '/nowhere.json'])).toMatchObject({ exitCode: 66 });
    const missing = await run(['verify', '--keys', `${url}/.well-known/webhook-keys?subscription=sub_none`]);
    expect(missing).toMatchObject({ exitCode: 69, notes: expect.stringMatching(/it answered 4\d\d/) });
    expect(await run(['verify', '--keys', 'http://127.0.0.1:1/keys'])).toMatchObject({
      exitCode: 69,
      notes: expect.stringContaining('check the address'),
    });
  });
});

test.each([
  [
    ['accounts', 'show', 'nope'],
    'There is no account nope for this token: filing-webhooks accounts lists those there are.',
  ],
  [
    ['accounts', 'remove', 'nope'],
    'There is no account nope for this token: filing-webhooks accounts lists those there are.',
  ],
  [
    ['subscriptions', '--account', 'nope'],
    'There is no account nope for this token: name another with --account.',
  ],
])('%j names the account that there is none of', async (words, message) => {
  expect(await run(words)).toMatchObject({ exitCode: 77, notes: expect.stringContaining(message) });
});
