import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { detectChange } from '../../../../src/filings/detection/detect-change.ts';
import type { FilingState } from '../../../../src/filings/detection/filing-state.ts';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 5_000);
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);

/** What one filing really was, from which millisecond on. */
const life = fc
  .array(
    fc.record({
      after: fc.integer({ min: 1, max: 20 }),
      status: fc.constantFrom('UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED', 'ON_HOLD'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((steps) => {
    let at = 0;
    return steps.map(({ after, status }) => ({ at: (at += after), status }));
  });

/**
 * A read that shows the filing as it was at some moment of its span, and how long after its end it is
 * compared.
 */
const read = fc.record({
  start: fc.integer({ min: 0, max: 250 }),
  moment: fc.integer({ min: 0, max: 20 }),
  rest: fc.integer({ min: 0, max: 20 }),
  late: fc.integer({ min: 0, max: 200 }),
});

it('reads of several pollers, however they overlap and however late they come, follow the truth and never turn back', () => {
  const property = fc.property(life, fc.array(read, { maxLength: 30 }), (truth, reads) => {
    const before = { at: -1, status: 'UNPAID' };
    const indexAt = (moment: number) => truth.findLastIndex(({ at }) => at <= moment);
    const factAt = (index: number) => truth[index] ?? before;
    const applied: { index: number; next: FilingState; former: FilingState | null; end: number }[] = [];
    const compared = reads
      .map(({ start, moment, rest, late }) => {
        const end = start + moment + rest;
        return { span: { start, end }, index: indexAt(start + moment), at: end + late };
      })
      .toSorted((a, b) => a.at - b.at);
    // The last one begins when all is over, so it must bring the truth.
    const last = { span: { start: 1_000, end: 1_001 }, index: truth.length - 1, at: 2_000 };

    for (const { span, index } of [...compared, last]) {
      const fields = { status: factAt(index).status, completedAt: null, rejectionReason: null };
      const former = applied.at(-1)?.next ?? null;
      const found = detectChange(former, fields, span, true);
      if (found.kind === 'unchanged' || found.kind === 'outdated') continue;
      applied.push({ index, next: found.next, former, end: span.end });
    }
    const order = applied.map(({ index }) => index);
    expect(order, 'no earlier fact after a later one').toEqual(order.toSorted((a, b) => a - b));
    const untrue = applied.filter(
      ({ next, former, end }) =>
        former !== null &&
        !truth.some(({ at, status }) => status === next.status && former.readFrom <= at && at <= end),
    );
    expect(untrue, 'each became so within what is said to be observed').toEqual([]);
    expect(applied.map(({ next }) => next.sequence)).toEqual(applied.map((_, i) => i + 1));
    expect(applied.at(-1)?.next.status).toBe(factAt(truth.length - 1).status);
  });
  fc.assert(property, { seed, numRuns: runs });
});
