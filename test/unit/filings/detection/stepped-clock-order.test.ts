import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { comparedSpan, detectChange } from '../../../../src/filings/detection/detect-change.ts';
import type { FilingState } from '../../../../src/filings/detection/filing-state.ts';
import { spanOf } from '../../../../src/partner/read-span.ts';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 5_000);
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now() % 2 ** 31);

const second = 1_000;
const stepAt = 100 * second;
const processes = 3;

/**
 * A read by one of several processes, that shows the filing as it was at some moment of it, and how long
 * after its end it is compared.
 */
const read = fc.record({
  process: fc.integer({ min: 0, max: processes - 1 }),
  start: fc.integer({ min: 0, max: 200 }).map((at) => at * second + 500),
  moment: fc.integer({ min: 0, max: 20 }).map((ms) => ms * 500),
  rest: fc.integer({ min: 1, max: 20 }).map((ms) => ms * 500),
  late: fc.integer({ min: 0, max: 60 * second }),
});

/** When, beside each comparison, a process asks Redis for its time: at last before the last read. */
const looks = fc
  .array(fc.integer({ min: 0, max: 220 * second }), { maxLength: 10 })
  .map((ats) => [...ats, 390 * second]);

/** What one process knows of Redis's clock, which shows `at + byMs` until the step and `at` from then on. */
function knownClock(byMs: number, start: number) {
  const offsetAt = (at: number) => (at < stepAt ? byMs : 0);
  let offset = offsetAt(start);
  let steadyFrom = start;
  return {
    now: (at: number) => at + offset,
    synchronise(at: number) {
      if (offset !== offsetAt(at)) steadyFrom = at;
      offset = offsetAt(at);
    },
    steadySince: () => steadyFrom + offset,
  };
}

it('reads of several processes follow the truth and never turn back when the clock of Redis steps between them', () => {
  const steps = fc.constantFrom(-86_400, -3_600, -90, 90, 3_600, 86_400);
  const all = fc.array(read, { maxLength: 30 });
  const property = fc.property(
    steps,
    all,
    fc.array(looks, { minLength: 3, maxLength: 3 }),
    (by, reads, allLooks) => {
      const clocks = Array.from({ length: processes }, () => knownClock(by * second, 0));
      const last = { process: 0, start: 400 * second, moment: 0, rest: second, late: 0 };
      let state: FilingState | null = null;
      const shown: number[] = [];
      const moves = [...reads, last].flatMap((each) => {
        const clock = clocks[each.process];
        if (clock === undefined) return [];
        let [startSeen, span] = [0, { start: 0, end: 0 }];
        const took = each.moment + each.rest;
        const end = each.start + took;
        // What it shows is the number of seconds so far: it never was the same before.
        const fact = each.start + each.moment;
        return [
          { at: each.start, run: () => (startSeen = clock.now(each.start)) },
          { at: end, run: () => (span = spanOf(startSeen, clock.now(end), took)) },
          {
            at: end + each.late,
            run() {
              const at = end + each.late;
              clock.synchronise(at);
              const compared = { at: clock.now(at), steadySince: clock.steadySince() };
              const fields = { status: String(fact), completedAt: null, rejectionReason: null };
              const found = detectChange(state, fields, comparedSpan(span, compared), true);
              if (found.kind === 'unchanged' || found.kind === 'outdated') return;
              state = found.next;
              shown.push(fact);
            },
          },
        ];
      });
      const asked = allLooks.flatMap((ats, i) =>
        ats.map((at) => ({ at, run: () => clocks[i]?.synchronise(at) })),
      );
      for (const { run } of [...moves, ...asked].toSorted((a, b) => a.at - b.at)) run();
      expect(shown, 'no earlier fact after a later one').toEqual(shown.toSorted((a, b) => a - b));
      expect(shown.at(-1), 'the last read tells').toBe(last.start);
    },
  );
  fc.assert(property, { seed, numRuns: runs });
});
