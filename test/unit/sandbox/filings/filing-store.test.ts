import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFilingStore } from '../../../../src/sandbox/filings/filing-store.ts';
import type { Filing } from '../../../../src/sandbox/filings/filing.ts';
import { filingStates } from '../../../../src/sandbox/filings/filing-states.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import { sampleFiling } from '../../../../src/sandbox/simulation/sample-filings.ts';

const template = sampleFiling(createRandom(1), {
  id: 'f',
  owner: 'a',
  states: filingStates,
  status: 'PAID',
  createdAtMs: 0,
  nowMs: 0,
});

const anyFiling = fc.record({
  id: fc.constantFrom('f1', 'f2', 'f3', 'f4', 'f5'),
  userId: fc.constantFrom('a', 'b'),
  status: fc.constantFrom('PAID', 'COMPLETED', ''),
  createdAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', 'not a date'),
});

describe('filing store', () => {
  it('each selection holds exactly the filings that it names, whatever was put, moved and removed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), anyFiling)), (steps) => {
        const store = createFilingStore();
        const model = new Map<string, Filing>();
        for (const [keep, changed] of steps) {
          const filing = { ...template, ...changed };
          if (keep) store.put(filing);
          else store.remove(filing.id);
          if (keep) model.set(filing.id, filing);
          else model.delete(filing.id);
        }
        for (const owner of [undefined, 'a', 'b']) {
          for (const status of [undefined, 'PAID', 'COMPLETED', '']) {
            const view = store.select({ owner, status });
            const expected = [...model.values()].filter(
              (filing) =>
                (owner ?? filing.userId) === filing.userId && (status ?? filing.status) === filing.status,
            );
            expect(view.size).toBe(expected.length);
            expect(new Set(view.slice(0, 10))).toEqual(new Set(expected));
          }
        }
      }),
    );
  });

  it('a page is that of a list that is sorted anew, newest first, whatever was added at once or later and removed', () => {
    const days = fc.array(fc.integer({ min: 10, max: 30 }), { maxLength: 60 });
    fc.assert(
      fc.property(
        days,
        days,
        fc.array(fc.nat()),
        fc.nat(70),
        fc.nat(30),
        (atOnce, later, removals, offset, limit) => {
          const store = createFilingStore();
          const model = [...atOnce, ...later].map((day, arrival) => ({
            ...template,
            id: `f${arrival}`,
            policyNumber: arrival % 2 === 0 ? 'even' : 'odd',
            createdAt: `2026-01-${day}T00:00:00.000Z`,
          }));
          store.addMany(model.slice(0, atOnce.length));
          for (const filing of model.slice(atOnce.length)) store.put(filing);
          for (const at of removals) {
            const [removed] = model.splice(at % Math.max(model.length, 1), 1);
            if (removed !== undefined) store.remove(removed.id);
          }
          const expected = model
            .toReversed()
            .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
          const view = store.select({});
          expect(view.size).toBe(expected.length);
          expect(view.slice(offset, limit)).toEqual(expected.slice(offset, offset + limit));
          expect(view.at(offset)).toEqual(expected[offset]);
          const even = expected.filter(({ policyNumber }) => policyNumber === 'even');
          expect(store.select({ q: 'even' }).slice(0, 200)).toEqual(even);
        },
      ),
    );
  });

  it('a filing that changes keeps its place among those of the same createdAt', () => {
    const store = createFilingStore();
    for (const id of ['f1', 'f2', 'f3']) store.put({ ...template, id });
    store.put({ ...template, id: 'f2', status: 'COMPLETED' });
    store.put({ ...template, id: 'f2', status: 'PAID' });
    expect(
      store
        .select({})
        .slice(0, 3)
        .map(({ id }) => id),
    ).toEqual(['f3', 'f2', 'f1']);
  });

  it('a search finds what a filing says now', () => {
    const store = createFilingStore();
    store.put({ ...template, insuredsName: 'Old Mill' });
    expect(store.select({ q: ' old ' }).size).toBe(1);
    store.put({ ...template, insuredsName: 'New Mill' });
    expect(store.select({ q: 'old' }).size).toBe(0);
  });
});
