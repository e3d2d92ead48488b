import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../../support/partner/sandbox.ts';
import { watchAccount, type WatchedAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
let sandbox: TestSandbox;
let watched: WatchedAccount;
const key = createKeys(redis.prefix).account('acme');
const stored = storedAccount(client, key);

beforeAll(async () => {
  sandbox = await startSandbox();
  for (let i = 1; i <= 60; i += 1) await sandbox.set(`f_${i}`, { status: 'PENDING' });
  watched = await watchAccount(client, redis.prefix, { baseUrl: sandbox.baseUrl, key: 'sandbox-key' });
  await watched.pollFor('sweep');
});

afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

const garbage: readonly (readonly [string, string | Buffer])[] = [
  ['cut short', '[1,"P",null,null,1'],
  ['no JSON', 'garbage'],
  ['JSON of something else', '{"v":1}'],
  ['a list of something else', '[1,2,3]'],
  ['empty', ''],
  ['several lines', 'one\ntwo\nthree'],
  ['no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
];

test.each(garbage)(
  'a state that is %s is set aside, and a change in the meantime is told once, with a greater sequence',
  async (_, text) => {
    await sandbox.set('f_1', { status: 'PAID' });
    const [paid] = await watched.pollFor();
    await stored.setFiling('f_1', text);
    await sandbox.set('f_1', { status: 'REJECTED', rejectionReason: 'no' });
    await sandbox.set('f_2', { status: 'PAID' });
    const told = await watched.pollFor();
    const rejected = told.find(({ filingId }) => filingId === 'f_1');
    expect(rejected).toMatchObject({ type: 'filing.rejected', previousStatus: 'PAID' });
    expect(rejected?.sequence).toBeGreaterThan(paid?.sequence ?? Infinity);
    expect(told.map(({ filingId }) => filingId).toSorted()).toEqual(['f_1', 'f_2']);
    expect(await watched.pollFor('sweep')).toEqual([]);
    expect(await watched.snapshot.counts('acme')).toMatchObject({ PENDING: 58, PAID: 1, REJECTED: 1 });
    expect(await watched.snapshot.idsIn('acme', 'REJECTED')).toEqual(['f_1']);
    for (const id of ['f_1', 'f_2']) await sandbox.set(id, { status: 'PENDING', rejectionReason: null });
    await watched.pollFor();
  },
);

test('each index still has each filing once, after all of that', async () => {
  for (const index of [key.index, key.effective]) {
    const members = await client.zrange(index, '0', '-1');
    expect(members.map((member) => member.slice(member.lastIndexOf(' ') + 1)).toSorted()).toEqual(
      Array.from({ length: 60 }, (_, i) => `f_${i + 1}`).toSorted(),
    );
  }
});

test('an unsettled filing whose state cannot be read and that did not change causes no event', async () => {
  await stored.setFiling('f_3', 'garbage');
  expect(await watched.pollFor('sweep')).toEqual([]);
  expect((await stored.filingTexts())['f_3']).toMatch(/^\[1,"P"/);
});

test('a settled filing whose state cannot be read is told once more as it is, with a greater sequence', async () => {
  for (const id of ['f_4', 'f_5']) await sandbox.set(id, { status: 'REJECTED', rejectionReason: 'no' });
  await sandbox.set('f_5', { status: 'COMPLETED' });
  const before = await watched.pollFor('sweep');
  for (const id of ['f_4', 'f_5']) await stored.setFiling(id, 'garbage');
  const told = await watched.pollFor('sweep');
  const typeOf = (of: typeof told) => of.map(({ filingId, type }) => `${filingId} ${type}`).toSorted();
  expect(typeOf(told)).toEqual(['f_4 filing.rejected', 'f_5 filing.completed']);
  expect(typeOf(told)).toEqual(typeOf(before));
  for (const { filingId, sequence } of told)
    expect(sequence).toBeGreaterThan(before.find((each) => each.filingId === filingId)?.sequence ?? Infinity);
  expect(await watched.pollFor('sweep')).toEqual([]);
});

test('what a state held is kept for people to look at', async () => {
  await stored.setFiling('f_6', 'garbage of f_6');
  await watched.pollFor('sweep');
  expect((await stored.setAside()).at(-1)).toEqual([
    'key',
    key.filings,
    'field',
    'f_6',
    'value',
    'garbage of f_6',
  ]);
  expect(await stored.setAsideExpiresInMs()).toBeGreaterThan(6 * 86_400_000);
});
