import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  filingsMax,
  idsMax,
  isStale,
  learnSequences,
  newMemory,
  rememberId,
  rememberSequence,
  writeSequences,
} from '../dist/nodes/FilingWebhooks/memory.js';

test('the memory is bounded and forgets what is oldest', () => {
  const memory = newMemory();
  for (let n = 0; n < idsMax + 10; n += 1) rememberId(memory, `evt_${n}`);
  for (let n = 0; n < filingsMax + 10; n += 1) rememberSequence(memory, `f_${n}`, 1);
  assert.equal(memory.ids.size, idsMax);
  assert.equal(memory.sequences.size, filingsMax);
  assert.equal(memory.ids.has('evt_9'), false);
  assert.equal(memory.ids.has('evt_10'), true);
  assert.ok(JSON.stringify(writeSequences(memory)).length < 50_000);
});

test('a smaller sequence is stale, the same and a greater one are not', () => {
  const memory = newMemory();
  rememberSequence(memory, 'f_1', 4);
  rememberSequence(memory, 'f_1', 2);
  assert.deepEqual(
    [3, 4, 5].map((sequence) => isStale(memory, 'f_1', sequence)),
    [true, false, false],
  );
  assert.equal(isStale(memory, 'f_2', 1), false);
});

test('what was written is read again, and what is none counts as nothing', () => {
  const memory = newMemory();
  learnSequences(memory, [['123', 4]]);
  const again = newMemory();
  learnSequences(again, JSON.parse(JSON.stringify(writeSequences(memory))));
  assert.deepEqual(again, memory);
  const nothing = newMemory();
  for (const value of [undefined, 'x', [[1, 2], 3]]) learnSequences(nothing, value);
  assert.deepEqual(nothing, newMemory());
});

test('a process learns the sequences that another one has written, and keeps a greater one of its own', () => {
  const memory = newMemory();
  rememberSequence(memory, 'f_1', 5);
  learnSequences(memory, [
    ['f_1', 3],
    ['f_2', 1],
  ]);
  assert.deepEqual(
    new Map(writeSequences(memory)),
    new Map([
      ['f_1', 5],
      ['f_2', 1],
    ]),
  );
});
