import { expect, test } from 'vitest';
import { createDueWarnings } from '../../../../../src/daemon/upkeep/rounds/due-warnings.ts';
import { createMetrics } from '../../../../../src/monitoring/metrics.ts';
import { buildExpiryEvent } from '../../../../../src/subscriptions/certificates/expiry-event.ts';

test('an account is looked at every ten minutes while the clocks agree, and its subscriptions are woken', async () => {
  const looked: string[] = [];
  const [woken, lines]: unknown[][] = [[], []];
  const metrics = createMetrics();
  let now = 0;
  let isClockRight = false;
  const ending = { kind: 'cert', notAfter: 5 } as const;
  const event = buildExpiryEvent({ account: 'a', id: 'sub_1', url: 'https://a.example/x' }, ending, 4);
  const warn = createDueWarnings({
    certificates: {
      async warn(account) {
        looked.push(account);
        return looked.length === 1 ? [{ account, subscription: 'sub_1', ending, event }] : [];
      },
    },
    waker: { wakeMatching: async (...args) => void woken?.push(args) },
    metrics,
    logger: { warn: (...args: unknown[]) => void lines?.push(args) } as never,
    isClockRight: () => isClockRight,
    now: () => now,
  });
  await warn('a');
  expect(looked).toEqual([]);
  isClockRight = true;
  await warn('a');
  await warn('a');
  await warn('b');
  now = 599_999;
  await warn('a');
  expect(looked).toEqual(['a', 'b']);
  now = 600_000;
  await warn('a');
  expect(looked).toEqual(['a', 'b', 'a']);
  expect(woken).toEqual([['a', [event]]]);
  const notAfter = new Date(5).toISOString();
  const line = { account: 'a', subscription: 'sub_1', certificate: 'cert', notAfter };
  expect(lines).toEqual([[line, 'certificate.expiring']]);
  const { values } = await metrics.events.get();
  expect(values.find(({ labels }) => labels.type === 'account.certificate_expiring')?.value).toBe(1);
});
