import { truncate } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { createKeys } from '../../../src/redis/keys.ts';
import { lastAppendOnlyFile, lastTransaction } from './redis-files.ts';
import { partnerRow, startHostilePartner, type HostilePartner } from '../partner/hostile-partner.ts';
import { startPrivateRedis } from './test-redis.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../partner/watched-account.ts';

const prefix = 'fw';
const key = createKeys(prefix).account('acme');
const ids = ['a', 'b', 'c', 'd'];

/** A daemon that remembers nothing, as its poller, and a client of its Redis. */
interface CutDaemon {
  readonly watched: WatchedAccount;
  readonly client: Redis;
}

/** Redis and a partner service after a cut. */
interface CutScene {
  readonly partner: HostilePartner;
  /** The first daemon after the cut, which remembers nothing, and its client. */
  readonly between: CutDaemon;
  /** Kills Redis and starts it again; a daemon that remembers nothing, and its client. */
  restart(): Promise<CutDaemon>;
  /** What the log held before the cut. */
  readonly heard: readonly SeenEvent[];
}

/**
 * Redis as it is when the transaction that committed changes of four filings was cut after a part of it (0 to
 * 1), and was started on that. Gone with the test.
 */
async function cutWithin(part: number): Promise<CutScene> {
  const partner = await startHostilePartner();
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const redis = await startPrivateRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.close());
  async function begin(): Promise<CutDaemon> {
    const client = new Redis(redis.url);
    client.on('error', () => undefined);
    onTestFinished(() => client.disconnect());
    return { client, watched: await watchAccount(client, prefix, partner) };
  }
  partner.rows = [...ids.map((id) => partnerRow(id, 'PENDING')), partnerRow('z')];
  const { watched } = await begin();
  await watched.poll();
  partner.put('z', { status: 'PAID' });
  await watched.poll();
  for (const id of ids) partner.put(id, { status: 'REJECTED', rejectionReason: 'Not signed' });
  await watched.poll();
  const heard = await watched.events();
  await redis.kill();
  const file = await lastAppendOnlyFile(redis.directory);
  const { from, to } = (await lastTransaction(file, 'evt_')) ?? { from: 0, to: 0 };
  await truncate(file, Math.floor(from + (to - from) * part));
  await redis.restart();
  return {
    partner,
    between: await begin(),
    heard,
    async restart() {
      await redis.restart();
      return begin();
    },
  };
}

const brief = ({ filingId, status, sequence }: SeenEvent) => `${filingId} ${status} ${sequence}`;

/**
 * Fails unless the last word on each filing is so, no number stands for two things, bodies are those of their
 * entries, and counts and index are right.
 */
async function expectTrue({ partner, heard }: CutScene, { watched, client }: CutDaemon): Promise<void> {
  const events = await watched.events();
  const told = [...heard.filter(({ id }) => events.some((event) => event.id === id)), ...events];
  for (const { id, status } of partner.rows) {
    const own = events.filter(({ filingId }) => filingId === id);
    const last = own.at(-1);
    if (last === undefined) continue;
    expect(last.status, `${String(id)}: ${own.map(brief).join()}`).toBe(status);
    expect(last.sequence).toBe(Math.max(...own.map(({ sequence }) => sequence)));
  }
  const bySequence = Map.groupBy(told, ({ filingId, sequence }) => `${filingId} ${sequence}`);
  for (const [number, same] of bySequence) {
    expect(new Set(same.map(({ status }) => status)).size, number).toBe(1);
    expect(new Set(same.map(({ id }) => id)).size, number).toBe(1);
  }
  for (const { filingId, position } of await watched.log.outlineAfter('acme', 0, 1000)) {
    const body = await client.hget(key.bodies, String(position));
    expect(JSON.parse(body ?? '{}'), `position ${position}`).toMatchObject({ data: { filingId } });
  }
  await expectIndexed(partner, client);
}

async function expectIndexed({ rows }: HostilePartner, client: Redis): Promise<void> {
  const shown = rows.map(({ id, status }) => ({ id: String(id), status: String(status) }));
  const counts = Object.entries(await client.hgetall(key.counts)).filter(([, count]) => count !== '0');
  const expected = Map.groupBy(shown, ({ status }) => status);
  expect(Object.fromEntries(counts)).toEqual(
    Object.fromEntries([...expected].map(([status, of]) => [status, String(of.length)])),
  );
  const members = shown
    .filter(({ status }) => status !== 'COMPLETED')
    .map(({ id, status }) => `${status}\0${id}`);
  expect(new Set(await client.zrange(key.index, 0, '-1'))).toEqual(new Set(members));
}

/** Fails unless all comes right where other changes of the account were committed after the cut. */
export async function expectMendedBehindChanges(part: number): Promise<void> {
  const scene = await cutWithin(part);
  scene.partner.put('a', { status: 'PENDING', rejectionReason: null });
  scene.partner.put('d', { status: 'PAID', rejectionReason: null });
  await scene.between.watched.poll();
  const after = await scene.restart();
  for (let i = 0; i < 3; i += 1) await after.watched.pollFor();
  scene.partner.put('z', { status: 'PENDING' });
  expect((await after.watched.pollFor()).map(brief)).toEqual(['z PENDING 2']);
  await expectTrue(scene, after);
  expect(await after.watched.pollFor()).toEqual([]);
  // Nothing is found twice.
  const { watched: again } = await scene.restart();
  await again.poll();
  expect(again.torn).toEqual([]);
}

/**
 * Fails unless all comes right where nothing of the account was written after the cut, until the half was
 * carried out.
 */
export async function expectMendedAlone(part: number): Promise<void> {
  const scene = await cutWithin(part);
  await scene.between.client.multi().set('fw:one', 1).set('fw:other', 1).exec();
  scene.partner.put('b', { status: 'PENDING', rejectionReason: null });
  scene.partner.put('c', { status: 'PAID', rejectionReason: null });
  const after = await scene.restart();
  for (let i = 0; i < 3; i += 1) await after.watched.pollFor();
  await expectTrue(scene, after);
}
