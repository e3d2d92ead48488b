import { createKeys } from '../../../src/redis/keys.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const storedIn = (store: string | number) =>
  storedAccount(client, createKeys(`${redis.prefix}${store}`).account('acme'));
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
  for (const limit of limits) await storedIn(limit).begin('g');
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

test('filings that are too many at once go without their documents, the small ones among them with theirs', async () => {
  const [large, small] = [60, 40];
  const rows = Array.from({ length: large + small }, (_, i) =>
    partnerRow(`f_${i}`, 'PENDING', filler(i < large ? 240 * 1024 : 3_000)),
  );
  const partner = await startHostilePartner(rows);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const watched = await watchAccount(client, `${redis.prefix}many`, partner, { timeoutMs: 10_000 });
  await watched.poll();
  for (const status of ['PAID', 'PENDING', 'PAID']) {
    for (const { id } of rows) partner.put(String(id), { status });
    await watched.poll('sweep');
  }
  const events = await watched.events();
  expect(events).toHaveLength(3 * (large + small));
  const isSmall = ({ filingId }: { filingId: string }) => Number(filingId.slice(2)) >= large;
  expect(events.filter(isSmall).every(({ filing }) => filing !== undefined)).toBe(true);
  const whole = events.filter((event) => !isSmall(event) && event.filing !== undefined);
  expect(whole.length).toBeGreaterThan(20);
  expect(whole.length).toBeLessThan(40);
  expect(events.every(({ filing, omitted }) => filing !== undefined || omitted === 'too_large')).toBe(true);
});

test('filings of 2 MB are followed like any other, and nothing of them is stored', async () => {
  const large = Array.from({ length: 5 }, (_, i) =>
    partnerRow(`large_${i}`, 'PENDING', { ...filler(2_000_000), insuredsName: 'n'.repeat(50_000) }),
  );
  const partner = await startHostilePartner([...large, partnerRow('usual', 'PENDING')]);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const watched = await watchAccount(client, `${redis.prefix}heavy`, partner, { timeoutMs: 10_000 });
  await watched.poll();
  expect((await watched.polling.read('acme')).baselined).toBe(true);
  for (const { id } of [...large, { id: 'usual' }])
    partner.put(String(id), { status: 'REJECTED', rejectionReason: 'unsigned' });
  expect((await watched.poll('sweep')).kind).toBe('complete');
  const events = await watched.events();
  expect(events.map(({ filingId, type }) => `${filingId} ${type}`).toSorted()).toEqual([
    ...large.map(({ id }) => `${String(id)} filing.rejected`),
    'usual filing.rejected',
  ]);
  for (const event of events.filter(({ filingId }) => filingId !== 'usual')) {
    expect(event).toMatchObject({ rejectionReason: 'unsigned', omitted: 'too_large' });
    expect(event).not.toHaveProperty('filing');
  }
  expect(watched.handed.find(({ filingId }) => filingId === 'large_0')).toMatchObject({ state: 'TX' });
  expect(await storedIn('heavy').memory()).toBeLessThan(100_000);
});

test('a filing too large for any answer hides none of the others, and its account says so', async () => {
  const rows = Array.from({ length: 10 }, (_, i) => partnerRow(`f_${i}`, 'PENDING'));
  rows.splice(5, 0, partnerRow('huge', 'PENDING', filler(2 * 1024 * 1024)));
  const partner = await startHostilePartner(rows);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  const watched = await watchAccount(client, `${redis.prefix}huge`, partner, { timeoutMs: 10_000 });
  expect((await watched.poll()).kind).toBe('complete');
  expect(await watched.snapshot.known('acme')).toBe(10);
  const { lastError, baselined } = await watched.polling.read('acme');
  expect(lastError).toContain(
    'invalid_response: GET filings with limit=1 answered more than 2097152 bytes: the partner service has to send smaller filings; 1 record left out, at offset 5 of the list of all filings',
  );
  expect(baselined).toBe(true);
  // Standing first, it is passed over too.
  partner.rows = [...rows.splice(5, 1), ...rows];
  expect((await watched.poll('sweep')).kind).toBe('complete');
  expect(await watched.snapshot.known('acme')).toBe(10);
});

test('a service that ignores limit is read, up to ten thousand filings an answer', async () => {
  const rows = Array.from({ length: 1_500 }, (_, i) => partnerRow(`f_${i}`, 'PENDING', filler(500)));
  const partner = await startHostilePartner(rows);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  partner.misbehave = ({ endpoint, offset, status }) =>
    endpoint === 'filings' && (status === null || status === 'PENDING')
      ? { edit: (page) => ({ ...page, items: partner.rows.slice(offset), limit: 1_500 }) }
      : undefined;
  const watched = await watchAccount(client, `${redis.prefix}all`, partner, { timeoutMs: 10_000 });
  expect((await watched.poll()).kind).toBe('complete');
  partner.put('f_700', { status: 'PAID' });
  expect((await watched.pollFor('sweep')).map(({ filingId }) => filingId)).toEqual(['f_700']);
});

test('a page that was left out is read as a whole later, though the limit has fallen since', async () => {
  const rows = Array.from({ length: 300 }, (_, i) =>
    partnerRow(`f_${i}`, 'PENDING', filler(i < 200 ? 10 : 200_000)),
  );
  const partner = await startHostilePartner(rows);
  onTestFinished(() => partner[Symbol.asyncDispose]());
  let failed = 0;
  partner.misbehave = ({ offset, limit }) => {
    if (offset !== 100 || limit !== 100 || failed > 0) return undefined;
    failed += 1;
    return { status: 503 };
  };
  const options = { timeoutMs: 10_000, retries: false };
  const watched = await watchAccount(client, `${redis.prefix}hole`, partner, options);
  expect((await watched.poll('sweep')).kind).toBe('complete');
  expect(failed).toBe(1);
  expect(await watched.snapshot.known('acme')).toBe(300);
});
