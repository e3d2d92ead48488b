import { expect, test } from 'vitest';
import type { LogEntry } from '../../../../src/events/timeline.ts';
import { createFilterJudge } from '../../../../src/subscriptions/content-filter/judge.ts';
import { previewEvents } from '../../../../src/subscriptions/content-filter/preview.ts';
import { judgeInTurns } from '../../../../src/subscriptions/content-filter/selection.ts';
import { wantedAmong } from '../../../../src/subscriptions/content-filter/wanted-entries.ts';
import { eventWith, usualFiling } from '../../../support/filter-expressions.ts';

// Each takes about a millisecond to parse.
const notes = Array.from({ length: 5_000 }, (_, i) => ({ text: `${i}`, at: i }));
const entries = Array.from({ length: 200 }, (_, i): LogEntry => {
  const { id, type, body } = eventWith({ ...usualFiling, notes, number: i });
  const known = { filingId: 'f_1', state: 'TX', status: 'PENDING', recordedAt: 1 };
  return { ...known, id, type, position: i + 1, body: Buffer.from(body), bytes: body.length } as LogEntry;
});
const log = {
  head: async () => ({ position: 200, recordedAt: 1 }) as never,
  outlineBefore: async (_account: string, before: number) => (before > 200 ? entries : []),
  outlineAt: async () => entries,
  load: async (_account: string, some: readonly unknown[]) => some as LogEntry[],
};
const selecting = { eventTypes: ['filing.*'], states: null, statuses: null, filter: 'filing.premium > 1' };

/** Number of turns that other work of the process had meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const next = (): void => {
    turns += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  await work();
  isOver = true;
  return turns;
}

test('other work has its turn after every few milliseconds of filters', async () => {
  const judged = () => ({ log, judge: createFilterJudge() });
  const preview = () => previewEvents(judged(), 'acme', selecting, 200);
  expect(await turnsDuring(preview)).toBeGreaterThanOrEqual(9);
  expect(await preview()).toMatchObject({ matched: 200, of: 200 });
  const wanted = () => wantedAmong(judged(), 'acme', selecting, entries);
  expect(await turnsDuring(wanted)).toBeGreaterThanOrEqual(9);
  expect(await wanted()).toEqual(entries);
  const { judge } = judged();
  expect(await turnsDuring(() => judgeInTurns(judge, selecting, entries))).toBeGreaterThanOrEqual(9);
  // The verdicts are remembered.
  expect(await turnsDuring(() => judgeInTurns(judge, selecting, entries))).toBeLessThanOrEqual(2);
});
