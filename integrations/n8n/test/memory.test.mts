import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  filingsMax,
  idsMax,
  isStale,
  learn,
  readMemory,
  rememberId,
  rememberSequence,
  writeMemory,
} from '../dist/nodes/FilingWebhooks/memory.js';

test('the memory is bounded and forgets what is oldest', () => {
  const memory = readMemory(null);
  for (let n = 0; n < idsMax + 10; n += 1) rememberId(memory, `evt_${n}`);
  for (let n = 0; n < filingsMax + 10; n += 1) rememberSequence(memory, `f_${n}`, 1);
  assert.equal(memory.ids.size, idsMax);
  assert.equal(memory.sequences.size, filingsMax);
  assert.equal(memory.ids.has('evt_9'), false);
  assert.equal(memory.ids.has('evt_10'), true);
  assert.ok(JSON.stringify(writeMemory(memory)).length < 50_000);
});

test('a smaller sequence is stale, the same and a greater one are not', () => {
  const memory = readMemory(null);
  rememberSequence(memory, 'f_1', 4);
  rememberSequence(memory, 'f_1', 2);
  assert.deepEqual(
    [3, 4, 5].map((sequence) => isStale(memory, 'f_1', sequence)),
    [true, false, false],
  );
  assert.equal(isStale(memory, 'f_2', 1), false);
});

test('what was written is read again, and what is no memory counts as nothing', () => {
  const memory = readMemory({ ids: ['evt_1'], sequences: [['123', 4]] });
  assert.deepEqual(readMemory(JSON.parse(JSON.stringify(writeMemory(memory)))), memory);
  for (const value of [undefined, 'x', { ids: 'x', sequences: [[1, 2], 3] }])
    assert.deepEqual(writeMemory(readMemory(value)), { ids: [], sequences: [] });
});

test('a process learns what another one has taken, and keeps what it knows itself as newer', () => {
  const memory = readMemory({ ids: ['evt_2'], sequences: [['f_1', 5]] });
  learn(
    memory,
    readMemory({
      ids: ['evt_1', 'evt_2'],
      sequences: [
        ['f_1', 3],
        ['f_2', 1],
      ],
    }),
  );
  assert.deepEqual(writeMemory(memory), {
    ids: ['evt_1', 'evt_2'],
    sequences: [
      ['f_2', 1],
      ['f_1', 5],
    ],
  });
});
