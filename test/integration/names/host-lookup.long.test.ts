import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createHostLookup, type HostLookupOptions } from '../../../src/names/host-lookup.ts';
import {
  startStubResolver,
  type StubAnswer,
  type StubResolver,
} from '../../support/connections/stub-resolver.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-names-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** A lookup with files and a name server of its own. */
async function stage(
  answers: Readonly<Record<string, StubAnswer>>,
  { hosts = '', resolvConf = '', ttlSeconds = 0, ...options }: StageOptions = {},
) {
  const paths = { hostsFile: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
  await writeFile(paths.hostsFile, hosts);
  await writeFile(paths.resolvConf, resolvConf);
  const resolver = await startStubResolver((name) => answers[name] ?? [], { port: 0, ttlSeconds });
  onTestFinished(() => resolver[Symbol.dispose]());
  const lookup = createHostLookup({ ...paths, servers: [resolver.server], ...options });
  const addresses = async (name: string, owner?: string) =>
    (await lookup(name, owner)).map(({ address }) => address);
  return { lookup, addresses, resolver, paths };
}

interface StageOptions extends HostLookupOptions {
  readonly hosts?: string;
  readonly resolvConf?: string;
  readonly ttlSeconds?: number;
}

/** How often the server was asked for a name, for both families of addresses together. */
const questions = ({ asked }: StubResolver, name: string) => asked.filter((each) => each === name).length / 2;

test('a name is asked of the name servers, for both families of addresses', async () => {
  const { lookup, resolver } = await stage({ 'hooks.example': ['192.0.2.1', '192.0.2.2'] });
  expect(await lookup('Hooks.Example')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
  ]);
  expect(resolver.asked).toEqual(['hooks.example', 'hooks.example']);
});

test('the hosts file comes first, and localhost leads to this machine without it', async () => {
  const { addresses, resolver } = await stage(
    { 'db.internal': ['192.0.2.1'] },
    { hosts: '10.0.0.7 db.internal # here' },
  );
  expect(await addresses('DB.internal')).toEqual(['10.0.0.7']);
  expect(await addresses('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await addresses('a.localhost.')).toEqual(['127.0.0.1', '::1']);
  await expect(addresses('xlocalhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(await addresses('127.0.0.9')).toEqual(['127.0.0.9']);
  expect(new Set(resolver.asked)).toEqual(new Set(['xlocalhost']));
});

test('a short name goes through the search list until one has addresses', async () => {
  const { addresses, resolver } = await stage(
    { 'redis.b.example': ['192.0.2.5'] },
    { resolvConf: 'search a.example b.example c.example\noptions ndots:2\n' },
  );
  expect(await addresses('redis')).toEqual(['192.0.2.5']);
  expect([...new Set(resolver.asked)]).toEqual(['redis.a.example', 'redis.b.example']);
});

test('changes of both files are seen without a restart', async () => {
  const { addresses, lookup, paths } = await stage({ 'db.new.example': ['192.0.2.6'] });
  await expect(lookup('db')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await writeFile(paths.resolvConf, 'search new.example\n');
  await expect.poll(() => addresses('db').catch(() => null), { timeout: 10_000 }).toEqual(['192.0.2.6']);
  await writeFile(paths.hostsFile, '10.0.0.8 db\n');
  await expect.poll(() => addresses('db'), { timeout: 10_000 }).toEqual(['10.0.0.8']);
});

test('a name asked at once by one owner is looked up once, and anew afterwards', async () => {
  const { addresses, resolver } = await stage({ 'hooks.example': ['192.0.2.1'] });
  await Promise.all(Array.from({ length: 20 }, () => addresses('hooks.example', 'one')));
  expect(questions(resolver, 'hooks.example')).toBe(1);
  await addresses('hooks.example', 'one');
  expect(questions(resolver, 'hooks.example')).toBe(2);
});

test('an answer holds for its time to live, for every owner', async () => {
  const { addresses, resolver } = await stage({ 'hooks.example': ['192.0.2.1'] }, { ttlSeconds: 600 });
  for (const owner of ['one', 'one', 'two', 'one']) await addresses('hooks.example', owner);
  expect(questions(resolver, 'hooks.example')).toBe(1);
});

test('a name without addresses is not found, and is not asked for again at once', async () => {
  const { lookup, resolver } = await stage({});
  for (let i = 0; i < 3; i += 1)
    await expect(lookup('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(questions(resolver, 'nowhere.example')).toBe(1);
  for (const name of ['a..b', `${'x'.repeat(70)}.example`, 'a b'])
    await expect(lookup(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('names whose server is silent keep no other owner waiting, however many there are', async () => {
  const silent = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`h${i}.dead`, 'silence' as const]),
  );
  const { addresses, lookup } = await stage({ ...silent, 'hooks.example': ['192.0.2.1'] });
  let ended = 0;
  const dead = Object.keys(silent).map((name) =>
    lookup(name, 'evil').catch((error: unknown) => {
      ended += 1;
      return error;
    }),
  );
  for (let i = 0; i < 5; i += 1) expect(await addresses('hooks.example', 'good')).toEqual(['192.0.2.1']);
  expect(ended).toBe(0);
  expect(await dead[0]).toMatchObject({ code: 'EAI_AGAIN' });
}, 30_000);

test('one owner has a bounded number of lookups under way', async () => {
  const { lookup, resolver } = await stage(
    { 'a.dead': 'silence', 'b.dead': 'silence', 'hooks.example': ['192.0.2.1'] },
    { perOwner: 2 },
  );
  const dead = ['a.dead', 'b.dead'].map((name) => lookup(name, 'evil').catch(() => 'failed'));
  const waiting = lookup('hooks.example', 'evil');
  await lookup('hooks.example', 'good');
  expect(questions(resolver, 'hooks.example')).toBe(1);
  await Promise.all(dead);
  expect(await waiting).toHaveLength(1);
}, 30_000);
