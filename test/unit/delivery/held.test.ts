import { expect, test } from 'vitest';
import { createHeldSubscriptions } from '../../../src/delivery/held.ts';

const url = 'https://receiver.example/';

test('an account whose subscriptions cannot be woken delays those of no other', async () => {
  const woken: string[] = [];
  const held = createHeldSubscriptions({
    isHeld: () => true,
    async wake(account) {
      if (account === 'broken') throw new Error('no such queue');
      woken.push(account);
    },
    now: () => 1_000,
    random: () => 0,
  });
  for (const account of ['one', 'broken', 'two']) held.heldUntil(account, url);
  await expect(held.release()).rejects.toThrow('no such queue');
  expect(woken).toEqual(['one', 'two']);
  await held.release();
  expect(woken).toHaveLength(2);
});
