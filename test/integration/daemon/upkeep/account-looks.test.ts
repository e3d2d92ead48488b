import { afterAll, expect, test } from 'vitest';
import { createAccountLooks } from '../../../../src/daemon/upkeep/account-looks.ts';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { createMetrics } from '../../../../src/monitoring/metrics.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { buildExpiryEvent } from '../../../../src/subscriptions/certificate-warnings.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { appendEvent, paidEvent } from '../../../support/redis/append-script.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
const log = createEventLog(client, keys);
afterAll(() => redis.cleanup());

const hour = 3_600_000;
const retentionMs = 2 * hour;

/** The looks at accounts with logs of 100 000 bytes; clocks that differ are believed by nobody. */
function stage({ differs = false } = {}) {
  const now = 1_000_000_000;
  const lines: unknown[][] = [];
  const woken: string[] = [];
  const metrics = createMetrics();
  const ending = { kind: 'cert', notAfter: 5 } as const;
  const event = buildExpiryEvent({ account: 'a', id: 'sub_1', url: 'https://a.example/x' }, ending, 4);
  const maintain = createAccountLooks({
    log,
    logBytesMax: 100_000,
    certificates: { warn: async (account) => [{ account, subscription: 'sub_1', ending, event }] },
    waker: { wake: async (account) => void woken.push(account) },
    publicKeys: { mend: async () => undefined },
    rejecting: { mend: async () => undefined },
    retention: () => ({ now, steadySince: 0, wallNow: differs ? now - hour : now, retentionMs }),
    metrics,
    logger: { warn: (...args: unknown[]) => void lines.push(args) },
  });
  return {
    maintain,
    linesOf: (name: string) => lines.filter(([, msg]) => msg === name),
    woken,
    metrics,
    append: async (account: string, count: number, agoMs: number) => {
      for (let i = 0; i < count; i += 1)
        await appendEvent(client, keys.account(account), paidEvent(`f${i}`), now - agoMs);
    },
  };
}

const lengthOf = (account: string) => storedAccount(client, keys.account(account)).events();

test('a log that is too long is cut, also while no clock is believed, and reported', async () => {
  const { maintain, linesOf, append } = stage({ differs: true });
  await append('long', 400, 0);
  await maintain('long');
  expect(await lengthOf('long')).toBeLessThan(200);
  const events = 400 - (await lengthOf('long'));
  expect(linesOf('log.full')).toEqual([[{ account: 'long', events, maxBytes: 100_000 }, 'log.full']]);
});

test('an event goes when it was kept long enough, without a report, and never while the clocks differ', async () => {
  const { maintain, linesOf, append } = stage();
  await append('b', 3, retentionMs + 1);
  await append('b', 1, retentionMs - 1);
  await stage({ differs: true }).maintain('b');
  expect(await lengthOf('b')).toBe(4);
  await maintain('b');
  expect(await lengthOf('b')).toBe(1);
  expect(linesOf('log.full')).toEqual([]);
});

test('a certificate that ends is logged and counted, and its subscriptions are woken, once the clocks agree', async () => {
  const contradicted = stage({ differs: true });
  await contradicted.maintain('a');
  expect(contradicted.woken).toEqual([]);
  const { maintain, woken, linesOf, metrics } = stage();
  await maintain('a');
  expect(woken).toEqual(['a']);
  const notAfter = new Date(5).toISOString();
  const line = { account: 'a', subscription: 'sub_1', certificate: 'cert', notAfter };
  expect(linesOf('certificate.expiring')).toEqual([[line, 'certificate.expiring']]);
  const { values } = await metrics.events.get();
  expect(values.find(({ labels }) => labels.type === 'account.certificate_expiring')?.value).toBe(1);
});
