import { expect, test } from 'vitest';
import { createDueMends } from '../../../../../src/daemon/upkeep/rounds/due-mends.ts';

test('an account is mended with the first call and once an hour', async () => {
  let at = 0;
  const mended: string[] = [];
  const mend = createDueMends(
    {
      addMissing: async (account) => {
        mended.push(account);
        return 0;
      },
    },
    () => at,
  );
  for (const later of [0, 3_000, 3_596_999, 1]) {
    at += later;
    await mend('a');
    await mend('b');
  }
  expect(mended).toEqual(['a', 'b', 'a', 'b']);
});
