import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkPermissions, neededCommands } from '../../../../src/redis/durability/check-permissions.ts';
import { waitForReplicas } from '../../../../src/redis/connection/wait-replicas.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { startPrivateRedis, type PrivateRedis } from '../../../support/redis/test-redis.ts';

const keys = createKeys('fw');
let server: PrivateRedis;
let admin: Redis;
let client: Redis;

/** The rules that the documentation gives a user of Redis. */
const page = readFileSync(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
const rules = /^ACL SETUSER filing-webhooks on >a-password (.*)$/m.exec(page)?.[1]?.split(' ') ?? [];

const allow = (...some: readonly string[]) => admin.call('ACL', 'SETUSER', 'daemon', ...some);

beforeAll(async () => {
  server = await startPrivateRedis();
  admin = new Redis(server.url);
  await allow('on', '>secret', ...rules);
  client = new Redis(server.url, { username: 'daemon', password: 'secret' });
});
beforeEach(async () => {
  await allow(...rules);
});
afterAll(async () => {
  for (const each of [admin, client]) each.disconnect();
  await server.close();
});

test('the documented rules allow all that is needed, and no other commands', async () => {
  expect(rules.filter((rule) => rule.startsWith('+'))).toEqual(neededCommands.map((name) => `+${name}`));
  expect(await checkPermissions(client, keys)).toBeNull();
});

test('WAIT is needed only by a client that waits for replicas', async () => {
  await allow(...rules, '-wait');
  expect(await checkPermissions(client, keys)).toBeNull();
  const ignore = () => undefined;
  waitForReplicas(client, { replicas: 1, onUnreplicated: ignore, onChange: ignore });
  expect(await checkPermissions(client, keys)).toContain('+wait');
});

test('a user that lacks any one command is named its rule', async () => {
  const unnamed: string[] = [];
  for (const name of neededCommands) {
    await allow(...rules, `-${name}`);
    const problem = await checkPermissions(client, keys);
    if (problem === null || !problem.includes(` +${name}`)) unnamed.push(name);
  }
  expect(unnamed).toEqual([]);
});

test.each([
  ['no scripts', ['-eval', '-evalsha'], '+eval +evalsha'],
  ['no scripts by their hash', ['-evalsha'], '+eval +evalsha'],
  ['no streams', ['-@stream'], '+xadd +xdel +xlen +xrange'],
  ['no publishing', ['-@pubsub'], '+publish +subscribe'],
  ['nothing that blocks', ['-@blocking'], '+bzpopmin +xread'],
  ['no transactions', ['-@transaction'], '+exec +multi'],
  ['keys of another prefix only', ['resetkeys', '~other:*'], '+bzpopmin +decrby'],
  ['keys without a hash tag only', ['resetkeys', '~fw:[a-z]*'], '~fw:{probe}:head ~fw:{~queues}:probe'],
  ['keys to read only', ['resetkeys', '%R~fw:*'], '+bzpopmin +decrby'],
  ['no channels', ['resetchannels'], '+publish +subscribe'],
])('a user that is allowed %s is named what it lacks', async (_, change, missing) => {
  await allow(...change);
  expect(await checkPermissions(client, keys)).toMatch(
    new RegExp(` lack: ${missing.replaceAll(/[+{}]/g, String.raw`\$&`)}[ ,]`),
  );
});
