import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { provideRedis, type ProvidedRedis } from '../../../src/demo/provide-redis.ts';
import { redisStore, type Delivery, type RedisStoreOptions } from '../src/index.ts';
import { newId } from './support/sign.ts';
import { describeStore } from './support/store-contract.ts';

let provided: ProvidedRedis;
let redis: Redis;
before(async () => {
  provided = await provideRedis({
    env: { ...process.env, REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' },
    log: () => undefined,
    allowEmulation: false,
    variable: 'TEST_REDIS_URL',
  });
  redis = new Redis(provided.url);
});
after(async () => {
  redis.disconnect();
  await provided.close();
});

describeStore('Redis', (waitMs) => newStore({ prefix: `receiver-${process.pid}-shared`, waitMs }).store);

let prefixes = 0;

function newStore(options: Partial<RedisStoreOptions> = {}) {
  const prefix = `receiver-${process.pid}-${(prefixes += 1)}`;
  const run: RedisStoreOptions['eval'] = (script, keys, args) =>
    redis.eval(script, keys.length, ...keys, ...args);
  const open = (other: Partial<RedisStoreOptions> = {}) =>
    redisStore({ eval: run, prefix, ...options, ...other });
  const marks = `${prefix}:{filing:["default","f_1"]}:marks`;
  return { store: open(), open, run, marks, lease: marks.replace(/marks$/, 'lease') };
}

const delivery = (sequence: number): Delivery => ({
  webhookId: newId(),
  account: 'default',
  filing: { id: 'f_1', sequence },
  takes: 'greater',
});
const nothing = () => Promise.resolve();

test('a mark expires when no event of the filing came for keptMs, and holds the ids of the last hundred events', async () => {
  const { store, marks, lease } = newStore({ keptMs: 60_000 });
  for (let sequence = 1; sequence <= 105; sequence += 1) await store.take(delivery(sequence), nothing);
  assert.equal(await redis.zcard(marks), 100);
  assert.equal((await redis.zrevrange(marks, 0, 0, 'WITHSCORES'))[1], '105');
  const left = await redis.pttl(marks);
  assert.ok(left > 50_000 && left <= 60_000, String(left));
  assert.equal(await redis.exists(lease), 0);
});

test('a handler that takes longer than the lease keeps its turn; a process that is gone loses it', async () => {
  const { store, open, lease } = newStore({ leaseMs: 300 });
  const release = Promise.withResolvers<void>();
  const slow = store.take(delivery(1), () => release.promise);
  while ((await redis.exists(lease)) === 0) continue;
  assert.equal(await open({ waitMs: 1_200 }).take(delivery(2), nothing), 'in_flight');
  release.resolve();
  assert.equal(await slow, 'handled');
  await redis.set(lease, 'token of a killed process', 'PX', 300);
  assert.equal(await store.take(delivery(2), nothing), 'handled');
});

test('a handler that outlived its lease marks its event, and ends nobody else’s turn', async () => {
  const { store, lease } = newStore();
  const taken = await store.take(delivery(1), async () => void (await redis.set(lease, 'another process')));
  assert.equal(taken, 'handled');
  assert.equal(await redis.get(lease), 'another process');
  assert.equal(await newStore().store.take(delivery(1), nothing), 'handled');
});

test('a mark that cannot be written is an error after the handler, never an acknowledgement', async () => {
  const { store, run, open } = newStore({ leaseMs: 300 });
  let isDown = false;
  const failing = open({
    eval: (...call) => (isDown ? Promise.reject(new Error('READONLY')) : run(...call)),
  });
  const event = delivery(1);
  await assert.rejects(
    failing.take(event, async () => void (isDown = true)),
    /READONLY/,
  );
  await assert.rejects(failing.take(event, nothing), /READONLY/);
  assert.equal(await store.take(event, nothing), 'handled');
});

test('an eval of another form than the store needs is named', async () => {
  const store = redisStore({ eval: () => Promise.resolve(['take']) });
  await assert.rejects(store.take(delivery(1), nothing), /eval of the Redis store answered/);
  assert.throws(() => redisStore({} as never), /needs eval/);
});
