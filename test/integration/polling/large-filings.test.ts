import { createKeys } from '../../../src/redis/keys.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const filler = (bytes: number) => ({ notes: 'x'.repeat(bytes) });

test('a filing of 300 KB changes like any other, its events go without it and name its size', async () => {
  const large = partnerRow('large', 'PENDING', { ...filler(300_000), filingState: { stateAbbr: 'OK' } });
  const partner = await startHostilePartner([large, partnerRow('usual', 'PENDING', filler(200_000))]);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const watched = await watchAccount(client, `${redis.prefix}a`, partner);
  await watched.poll();
  for (const id of ['large', 'usual']) partner.put(id, { status: 'REJECTED', rejectionReason: 'unsigned' });
  await watched.poll();

  const [first, second] = (await watched.events()).toSorted((a, b) => (a.filingId < b.filingId ? -1 : 1));
  expect(first).toMatchObject({ filingId: 'large', rejectionReason: 'unsigned', omitted: 'too_large' });
  expect(first).not.toHaveProperty('filing');
  expect(second).toMatchObject({ filingId: 'usual', filing: partner.rows[1] });
  expect(second).not.toHaveProperty('omitted');

  const bytes = Buffer.byteLength(JSON.stringify(partner.rows[0]));
  expect(watched.handed.map(({ filingId, state, omittedBytes }) => [filingId, state, omittedBytes])).toEqual(
    expect.arrayContaining([
      ['large', 'OK', bytes],
      ['usual', 'TX', undefined],
    ]),
  );
  const { entries } = await watched.log.readAfter('acme', logBeginning, 10);
  expect(entries.find(({ filingId }) => filingId === 'large')?.body.length).toBeLessThan(1_000);
});

test('the limit changes no id, and holds for filings that are read one by one', async () => {
  const partner = await startHostilePartner([partnerRow('f', 'PENDING', filler(2_000))]);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const limits = [1_024, 4_096];
  const watchers = await Promise.all(
    limits.map((filingBytesMax) =>
      watchAccount(client, `${redis.prefix}${filingBytesMax}`, partner, { filingBytesMax }),
    ),
  );
  // One generation, for that is part of an id.
  for (const limit of limits)
    await client.hset(createKeys(`${redis.prefix}${limit}`).account('acme').polling, 'generation', 'g');
  for (const watched of watchers) await watched.poll();
  // A delta poll of an account that counts as large asks for what left the lists by its id.
  partner.put('f', { status: 'COMPLETED', completedAt: '2026-02-01T00:00:00.000Z' });
  const told = [];
  for (const watched of watchers) told.push(await watched.pollFor());
  expect(partner.requests.some(({ endpoint }) => endpoint === 'filing')).toBe(true);
  const [small, full] = told.map(([event]) => event);
  expect(small).toMatchObject({ type: 'filing.completed', omitted: 'too_large' });
  expect(full).toMatchObject({ filing: partner.rows[0] });
  expect(small?.id).toBe(full?.id);
});
