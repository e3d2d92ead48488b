import { expect, test } from 'vitest';
import { createTurns } from '../../../src/delivery/take-turns.ts';

function job() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { work: () => promise, resolve, reject };
}

test('calls for a key take turns, and those that wait share one', async () => {
  const inTurn = createTurns();
  const [first, second] = [job(), job()];
  const begun: string[] = [];
  const call = (name: string, { work }: { work: () => Promise<void> }) =>
    inTurn('a', () => {
      begun.push(name);
      return work();
    });
  const calls = [call('first', first), call('second', second), call('third', second)];
  await inTurn('b', async () => void begun.push('of another key'));
  expect(begun).toEqual(['first', 'of another key']);
  first.resolve();
  await calls[0];
  await expect.poll(() => begun).toEqual(['first', 'of another key', 'second']);
  second.resolve();
  await Promise.all(calls);
  await call('later', { work: async () => undefined });
  expect(begun).toEqual(['first', 'of another key', 'second', 'later']);
});

test('a failed turn ends like any other, and only its own caller is told', async () => {
  const inTurn = createTurns();
  const failing = job();
  const calls = [inTurn('a', failing.work), inTurn('a', async () => undefined)];
  failing.reject(new Error('broken'));
  const [first, second] = await Promise.allSettled(calls);
  expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled']);
  await expect(inTurn('a', async () => undefined)).resolves.toBeUndefined();
});
