import { expect, test } from 'vitest';
import { createPacedLooks } from '../../../../src/daemon/upkeep/account-looks.ts';

test('an account is looked at with the first call and again after the time of each look', async () => {
  let at = 0;
  const mended: string[] = [];
  const note = (what: string) => async (account: string) => mended.push(`${what} ${account}`);
  const mend = createPacedLooks(
    [
      { everyMs: 3_600_000, look: note('keys') },
      { everyMs: 3_000, look: note('rejections') },
    ],
    () => at,
  );
  const seen: string[][] = [];
  for (const later of [0, 2_999, 1, 3_596_999, 1]) {
    at += later;
    await mend('a');
    await mend('b');
    seen.push(mended.splice(0));
  }
  expect(seen).toEqual([
    ['keys a', 'rejections a', 'keys b', 'rejections b'],
    [],
    ['rejections a', 'rejections b'],
    ['rejections a', 'rejections b'],
    ['keys a', 'keys b'],
  ]);
});
