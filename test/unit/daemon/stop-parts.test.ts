import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPartStopper, type Part } from '../../../src/daemon/stop-parts.ts';

const never = () => new Promise<void>(() => undefined);
const part = (name: string, stop: Part['stop'], changes: Partial<Part> = {}): Part => ({
  name,
  deadlineMs: 60_000,
  needsRedis: false,
  stop,
  ...changes,
});

/** Stops parts and returns what was logged of each: its name, and why it was left behind. */
async function stopAll(
  parts: readonly Part[],
  redisAway: (signal: AbortSignal) => Promise<void> = never,
): Promise<[unknown, unknown][]> {
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  await createPartStopper({ logger, redisAway })(parts);
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ part: name, reason = null }) => [name, reason]);
}

it('ends all parts at the same time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waits = part('waits', () => promise);
  const ends = part('ends', async () => resolve());
  expect(new Map(await stopAll([waits, ends]))).toEqual(
    new Map([
      ['ends', null],
      ['waits', null],
    ]),
  );
});

it('leaves behind what takes longer than its deadline, or fails', async () => {
  const fails = part('fails', () => Promise.reject(new Error('no such thing')));
  const hangs = part('hangs', never, { deadlineMs: 5 });
  expect(await stopAll([fails, hangs])).toEqual([
    ['fails', 'no such thing'],
    ['hangs', 'not done after 5 ms'],
  ]);
});

it('leaves behind what needs Redis once that is away, and nothing else', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const needs = part('needs', never, { needsRedis: true });
  const other = part('other', () => promise);
  const away = async () => void setImmediate(resolve);
  expect(await stopAll([needs, other], away)).toEqual([
    ['needs', 'Redis does not answer'],
    ['other', null],
  ]);
});

it('asks no longer whether Redis is away once everything has ended', async () => {
  const signals: AbortSignal[] = [];
  await stopAll([part('one', async () => undefined)], (signal) => {
    signals.push(signal);
    return never();
  });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
