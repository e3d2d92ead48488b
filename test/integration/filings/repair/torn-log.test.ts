import { test } from 'vitest';
import { expectMendedAlone, expectMendedBehindChanges } from '../../../support/redis/cut-commit.ts';

// A short piece of `npm run test:crash`. How much of the transaction was left.
test.each([0.3, 0.5, 0.95])(
  'a commit of which %d was left, and other changes behind it: all that is last said is so, and changes are seen on',
  async (part) => {
    await expectMendedBehindChanges(part);
  },
);

test.each([0.3, 0.7, 0.95])(
  'a commit of which %d was left, and nothing of the account behind it: all that is last said is so',
  async (part) => {
    await expectMendedAlone(part);
  },
);
