import { afterAll, expect, test } from 'vitest';
import { createNewestKinds } from '../../../../src/delivery/lagging/newest-kinds.ts';
import { logBeginning } from '../../../../src/events/timeline.ts';
import { paidEvent, appendScript } from '../../../support/redis/append-script.ts';
import { rememberKeys } from '../../../support/redis/set-back.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** Appends so many events at once. */
async function appendMany({ redis: client, keys }: Harness, name: string, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, i) => paidEvent(`${name}${i}`)).flatMap(
    ({ id, type, filingId, state, status, body }) => [id, type, filingId, state, status, Date.now(), body],
  );
  await appendScript.run(client, [keys.head, keys.events, keys.bodies, keys.filingEvents], values);
}

test('the kinds of events are those after the checkpoint, each once', async () => {
  await using harness = await createHarness(redis);
  await harness.append('a', 'b');
  const middle = await harness.log.head(harness.account);
  await appendMany(harness, 'p', 600);
  const head = await harness.log.head(harness.account);
  const kindsAfter = createNewestKinds(harness.log, harness.account, head);
  const paid = expect.objectContaining({ type: 'filing.paid', state: '', status: 'PAID' }) as unknown;
  const pending = expect.objectContaining({ type: 'filing.pending', state: 'TX' }) as unknown;
  expect(await kindsAfter(middle)).toEqual([paid]);
  expect(await kindsAfter({ ...logBeginning, timeline: '0'.repeat(48) })).toEqual([paid, pending]);
  expect(await kindsAfter(middle)).toEqual([paid]);
  expect(await kindsAfter(head)).toBeNull();
  expect(await kindsAfter({ ...middle, timeline: '' })).toBeNull();
  expect(await kindsAfter({ ...middle, timeline: '1'.repeat(48) })).toBeNull();
});

test('entries of a log that Redis has been set back to are not believed', async () => {
  await using harness = await createHarness(redis);
  const { account, log } = harness;
  await harness.append('a');
  const beginning = await log.head(account);
  const setBack = await rememberKeys(harness.redis, harness.keys.base);
  await appendMany(harness, 'p', 510);
  const head = await log.head(account);
  let reads = 0;
  const kindsAfter = createNewestKinds(
    {
      async outlineBefore(...args) {
        reads += 1;
        if (reads === 2) {
          await setBack();
          await appendMany(harness, 'q', 510);
        }
        return log.outlineBefore(...args);
      },
    },
    account,
    head,
  );
  expect(await kindsAfter(beginning)).toBeNull();
  expect(reads).toBe(2);
});
