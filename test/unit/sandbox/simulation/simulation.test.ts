import { describe, expect, it } from 'vitest';
import { createFilingStore } from '../../../../src/sandbox/filings/filing-store.ts';
import { filingStates } from '../../../../src/sandbox/filings/filing-states.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import { sampleFiling } from '../../../../src/sandbox/simulation/sample-filings.ts';
import { defaultSimulation, nextChange, planTick } from '../../../../src/sandbox/simulation/simulation.ts';

const quiet = { ...defaultSimulation, createRate: 0, reopenRate: 0, rejectRate: 0 };

function storeWith(statuses: readonly string[]) {
  const store = createFilingStore();
  for (const [index, status] of statuses.entries()) {
    const random = createRandom(index);
    const sample = {
      id: `f${index}`,
      owner: 'a',
      states: filingStates,
      status,
      createdAtMs: index,
      nowMs: index,
    };
    store.put(sampleFiling(random, sample));
  }
  return (status?: string) => store.select({ owner: 'a', status });
}

describe('the life of a filing', () => {
  it.each([
    ['UNPAID', 'PAID'],
    ['PAID', 'PENDING'],
    ['PENDING', 'COMPLETED'],
    ['COMPLETED', undefined],
    ['REJECTED', undefined],
    ['ON_HOLD', undefined],
  ])('after %s comes %s', (status, next) => {
    expect(nextChange(status, 0, createRandom(1))?.status).toBe(next);
  });

  it('some are rejected, each with a reason', () => {
    expect(nextChange('PENDING', 1, createRandom(1))).toEqual({
      status: 'REJECTED',
      rejectionReason: expect.stringMatching(/\w+ \w+/),
    });
  });
});

describe('a tick', () => {
  it('moves as many unsettled filings as it is told, each at most once', () => {
    const filings = storeWith(['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED', 'UNPAID']);
    const moved = planTick(filings, { ...quiet, changesPerTick: 3 }, createRandom(5));
    expect(moved).toHaveLength(3);
    const all = planTick(filings, { ...quiet, changesPerTick: 100 }, createRandom(5));
    const ids = all.map((step) => (step.kind === 'change' ? step.filing.id : 'created'));
    expect(ids.toSorted()).toEqual(['f0', 'f1', 'f2', 'f5']);
  });

  it('reopens only what is COMPLETED', () => {
    const filings = storeWith(['COMPLETED', 'REJECTED']);
    expect(planTick(filings, { ...quiet, reopenRate: 1 }, createRandom(1))).toMatchObject([
      { kind: 'change', filing: { id: 'f0' }, change: { status: 'PENDING' } },
    ]);
  });

  it('creates when there is nothing to move, and never beyond filingsMax', () => {
    const settled = storeWith(['REJECTED']);
    expect(planTick(settled, quiet, createRandom(1))).toEqual([{ kind: 'create' }]);
    expect(planTick(settled, { ...quiet, filingsMax: 1, createRate: 1 }, createRandom(1))).toEqual([]);
  });

  it('is the same for the same seed', () => {
    const filings = storeWith(['UNPAID', 'PAID', 'PENDING', 'COMPLETED']);
    const plan = () => planTick(filings, { ...defaultSimulation, changesPerTick: 2 }, createRandom(42));
    expect(plan()).toEqual(plan());
  });
});
