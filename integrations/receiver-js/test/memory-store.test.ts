import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from '../src/index.ts';
import { describeStore, filing, never, nothing } from './support/store-contract.ts';

const shared = memoryStore({ waitMs: 300 });
describeStore('memory', () => shared);

test('the memory store forgets the filing whose last event is the longest ago, and no other', async () => {
  const store = memoryStore({ filingsMax: 2 });
  const [one, two, three] = [filing(), filing(), filing()];
  for (const each of [one, two]) assert.equal(await store.take(each(5), nothing), 'handled');
  assert.equal(await store.take(one(6), nothing), 'handled');
  assert.equal(await store.take(three(5), nothing), 'handled');
  assert.equal(await store.take(one(6), never), 'stale');
  assert.equal(await store.take(three(5), never), 'stale');
  assert.equal(await store.take(two(5), nothing), 'handled');
});
