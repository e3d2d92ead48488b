import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { fullCycle } from '../support/daemon/full-cycle.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The command of the documentation that makes a user of Redis. */
const command = /^ACL SETUSER filing-webhooks on >a-password (.*)$/m.exec(page)?.[0]?.split(' ') ?? [];

/** The environment of a daemon whose user of Redis has these rules, and the server's administrator. */
async function stage(server: PrivateRedis, ...more: readonly string[]) {
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  admin.on('error', () => undefined);
  await admin.call('ACL', ...command.slice(1), ...more);
  // The user alone: without it nobody but the administrator, who is connected already, gets in.
  await admin.call('ACL', 'SETUSER', 'default', '>secret', 'resetpass');
  return { admin, environment: { REDIS_URL: server.url.replace('//', '//filing-webhooks:a-password@') } };
}

test('the user of Redis that the documentation makes does the whole job, and nothing is refused to it', async () => {
  await using server = await startPrivateRedis();
  const { admin, environment } = await stage(server);
  expect(await fullCycle(environment)).toEqual([]);
  const refused = (await admin.call('ACL', 'LOG')) as string[][];
  // The commands that are said to be optional.
  const isOptional = (entry: readonly string[]) =>
    ['bgrewriteaof', 'config|get', 'client|setinfo'].includes(String(entry[7]));
  expect(refused.filter((entry) => !isOptional(entry))).toEqual([]);
}, 240_000);

test.each([
  ['scripts', '-@scripting', /ended with 78: .*lack: \+eval \+evalsha/s],
  ['INFO', '-info', /ended with 78: .*lack: \+info,/s],
])(
  'a daemon whose user may not use %s does not start, and says what is missing',
  async (_, rule, problem) => {
    await using server = await startPrivateRedis();
    const { environment } = await stage(server, rule);
    await expect(startDaemonProcess(environment)).rejects.toThrow(problem);
  },
);
