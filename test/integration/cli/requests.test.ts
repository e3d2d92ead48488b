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
import { testRedis } from '../../support/redis/test-redis.ts';
import { captureCallback } from '../docs/captured-callback.ts';

const redis = testRedis();
let api: ApiFixture;
let url: string;
let path: string;
let folder: string;
let readiness: { ready: boolean; reasons: string[] } = { ready: true, reasons: [] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-endpoints-'));
  api = await createApiFixture(redis.connect(), redis.prefix, { readiness: async () => readiness });
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

async function fileWith(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

test('status counts the subscriptions to which nothing is sent by reason, and says what to do', async () => {
  const account = 'waiting';
  const made = await api.createAccount(account);
  const register = async (fields: object) => {
    const { id } = await api.ok('POST', `${made}/subscriptions`, { url: hookUrl, ...fields });
    return api.stored.of(account).of(String(id));
  };
  await register({ enabled: false });
  await register({ enabled: false });
  await register({});
  await (await register({})).setState({ pausedUntil: Date.now() + 60_000 });
  const { out } = await run(['status', '--account', account]);
  expect(out).toContain('\n  1 paused: the endpoint is down or asked for a pause; it goes on by itself');
  expect(out).toMatch(
    /\n {2}2 disabled: it was disabled, .*; repair the endpoint, then set `enabled` to true, or wait until it is asked again$/,
  );
  const json = await run(['status', '--account', account, '--json']);
  expect(JSON.parse(json.out)).toMatchObject({ accounts: [{ notSent: { paused: 1, disabled: 2 } }] });
});

test.each([
  [true, 0, 'note: Redis may lose data'],
  [false, 1, 'not ready: Redis may lose data'],
])('status of a daemon with ready %s ends with %i and says why', async (ready, exitCode, line) => {
  await api.createAccount('calm');
  readiness = { ready, reasons: ['Redis may lose data'] };
  const ended = await run(['status', '--account', 'calm']);
  expect([ended.exitCode, ended.out.split('\n')[0]]).toEqual([exitCode, expect.stringContaining(line)]);
  readiness = { ready: true, reasons: [] };
});

describe('api', () => {
  test('sends one request with its body from the command line, a file or standard input', async () => {
    const body = JSON.stringify({ url: hookUrl, statuses: ['REJECTED'] });
    const ids: string[] = [];
    for (const [data, input] of [[body], [`@${await fileWith('data.json', body)}`], ['-', body]] as const) {
      const made = await run(['api', 'post', '/subscriptions', '--data', data], input);
      expect(made).toMatchObject({ exitCode: 0, notes: '' });
      expect(JSON.parse(made.out)).toMatchObject({ url: hookUrl, statuses: ['REJECTED'] });
      ids.push((JSON.parse(made.out) as { id: string }).id);
    }
    const listed = await run(['api', 'GET', `${path}?limit=100`]);
    for (const id of ids) expect(listed.out).toContain(id);
    const [id = ''] = ids;
    expect(await run(['api', 'DELETE', `/subscriptions/${id}`])).toMatchObject({ exitCode: 64 });
    expect(await run(['api', 'DELETE', `/subscriptions/${id}`, '--yes'])).toMatchObject({
      exitCode: 0,
      out: '',
    });
    expect(await run(['api', 'GET', `/subscriptions/${id}`])).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('api GET /subscriptions lists') as string,
    });
  });

  test('says what the daemon finds wrong, field by field', async () => {
    expect(
      await run([
        'api',
        'POST',
        '/subscriptions',
        '--data',
        '{"url":"https://a.example","payload":"fat","from":"never"}',
      ]),
    ).toMatchObject({
      exitCode: 64,
      out: '',
      notes: expect.stringMatching(/payload: .*\n.*from: /s) as string,
    });
    expect(await run(['api', 'POST', '/subscriptions', '--data', '@/nowhere.json'])).toMatchObject({
      exitCode: 66,
    });
  });

  test('moves the cursor of no terminal, whatever the response holds', async () => {
    await api.createAccount('odd');
    await api.putFilings('odd', [{ id: 'f\u001b[2J\u009b2J\u202e', status: 'PAID', type: 'filing.paid' }]);
    const { out } = await run(['api', 'GET', '/events', '--account', 'odd']);
    expect(out).toContain(String.raw`f\u001b[2J\u009b2J\u202e`);
    expect(out).not.toMatch(/[\u009b\u202e]/);
  });
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
    ['api', 'GET', '/v1/accounts/nope'],
    'There is no account nope for this token: filing-webhooks api GET /v1/accounts lists those there are.',
  ],
  [
    ['api', 'GET', '/subscriptions', '--account', 'nope'],
    'There is no account nope for this token: name another with --account.',
  ],
])('%j names the account that there is none of', async (words, message) => {
  expect(await run(words)).toMatchObject({ exitCode: 1, notes: expect.stringContaining(message) });
});
