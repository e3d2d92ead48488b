import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { eventWith } from '../../../support/filter-expressions.ts';
import { appendEvent } from '../../../support/redis/append-script.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const count = 40;

const many = (length: number, item: (i: number) => unknown) => Array.from({ length }, (_, i) => item(i));

/** Filings of about 200 KiB whose values are as many, or as dear to parse, as those of a partner may be. */
const kinds = {
  numbers: { notes: many(45_000, (i) => i % 10) },
  objects: { notes: many(45_000, () => ({})) },
  names: { notes: many(11_000, (i) => ({ [`k${i}`]: i })) },
  lists: Object.fromEntries(many(45, (k) => [`n${String(k)}`, many(999, () => 'ab')]) as [string, unknown][]),
};

/** A receiver in this process that parses nothing itself. */
async function startCounter() {
  let answered = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      answered += 1;
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered: () => answered,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Milliseconds that this thread spends in the longest turn of the event loop meanwhile. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const next = (): void => {
    const { user } = process.threadCpuUsage(before);
    longest = Math.max(longest, user / 1000);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longest;
}

const asked = Array.from({ length: 60 }, () => 'filing.n1 == filing.n2').join(' || ');

const settings = [
  { payload: 'thin' },
  { format: 'cloudevents' },
  { format: 'slack' },
  { format: 'teams' },
  { filter: 'filing.premium > 10000' },
  { filter: `(${asked}) && data.status == "GONE"` },
] as const;

test.each(Object.entries(kinds))(
  'forty filings of many %s never hold the event loop',
  async (_kind, filing) => {
    for (const each of settings) {
      // oxlint-disable no-await-in-loop
      using receiver = await startCounter();
      await using harness = await createHarness(redis);
      await harness.subscribe(receiver.url, each);
      for (let i = 0; i < count; i += 1) {
        const event = eventWith({ id: `f${i}`, premium: 20_000, ...filing });
        await appendEvent(
          harness.redis,
          harness.keys,
          { ...event, id: `evt_${i}`, filingId: `f${i}` },
          Date.now(),
        );
      }
      const held = await longestTurn(() => harness.drain());
      expect(held, JSON.stringify(each)).toBeLessThan(100);
      const isUnwanted = 'filter' in each && each.filter.includes('GONE');
      expect(receiver.answered()).toBe(isUnwanted ? 0 : count);
      // oxlint-enable no-await-in-loop
    }
  },
);
