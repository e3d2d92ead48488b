import { describe, expect, it } from 'vitest';
import {
  decideCommit,
  isAsStored,
  type DecisionContext,
  type Observation,
} from '../../../../src/filings/detection/decide-commit.ts';
import {
  encodeState,
  StoredState,
  type FilingState,
} from '../../../../src/filings/detection/filing-state.ts';

const state: FilingState = {
  status: 'PAID',
  completedAt: null,
  rejectionReason: null,
  sequence: 2,
  since: 100,
  readFrom: 90,
  readAt: 100,
  removed: false,
};
const stored = (more: Partial<FilingState> = {}) => new StoredState(encodeState({ ...state, ...more }));
const span = { start: 200, end: 210 };
const context: DecisionContext = {
  account: 'a',
  generation: 'g',
  announces: () => true,
  notBefore: () => 150,
  filingBytesMax: 1_000,
  deadlines: { limits: new Map(), due: null },
  late: new Map(),
};

function read(status: string): Observation & { documents: () => number } {
  let documents = 0;
  const filing = {
    id: 'f',
    status,
    completedAt: null,
    rejectionReason: null,
    createdAt: null,
    document: () => ({ id: 'f', status, count: (documents += 1) }),
  };
  return { id: 'f', filing, documents: () => documents };
}
const unknown: Observation = { id: 'f', filing: null };

describe('one observation', () => {
  it.each<[string, Observation, StoredState | null]>([
    ['that shows what is stored', read('PAID'), stored()],
    ['of an id that was never seen and that the service does not know', unknown, null],
    ['of a removed filing that is still unknown', unknown, stored({ removed: true })],
  ])('%s changes nothing', (_, observation, previous) => {
    expect(decideCommit(context, observation, previous, span)).toEqual({ kind: 'nothing' });
  });

  it('gives way to a newer read, and names when that began', () => {
    const previous = stored({ readFrom: 195, readAt: 205 });
    expect(decideCommit(context, read('PENDING'), previous, span)).toEqual({
      kind: 'outdated',
      since: 195,
    });
  });

  it.each<[string, Observation, StoredState | null, string, number]>([
    ['a first sight', read('PAID'), null, 'filing.created', 1],
    ['another status', read('PENDING'), stored(), 'filing.pending', 3],
    ['a filing that the service does not know any more', unknown, stored(), 'filing.removed', 3],
    ['a removed filing that is back', read('PAID'), stored({ removed: true }), 'filing.restored', 3],
  ])('%s is written with its event', (_, observation, previous, type, sequence) => {
    const decision = decideCommit(context, observation, previous, span);
    expect(decision).toMatchObject({
      kind: 'commit',
      commit: { id: 'f', previous, next: { sequence }, event: { type, filingId: 'f' } },
    });
  });

  it('of the baseline is written without an event, and a COMPLETED one without its document', () => {
    const [completed, paid] = [read('COMPLETED'), read('PAID')];
    const baseline = { ...context, announces: () => false };
    const decisions = [completed, paid].map((each) => decideCommit(baseline, each, null, span));
    expect(decisions).toMatchObject([
      { commit: { event: null, details: null, next: { sequence: 0 } } },
      { commit: { event: null, details: { policyNumber: null } } },
    ]);
    expect([completed.documents(), paid.documents()]).toEqual([0, 1]);
  });

  it.each([
    [150, 150],
    [205, 205],
    [1_000, 210],
    [10_000, 0],
  ])('known until %d has an event that is not before %d', (until, notBefore) => {
    const decision = decideCommit({ ...context, notBefore: () => until }, read('PENDING'), stored(), span);
    const body = decision.kind === 'commit' ? decision.commit.event?.body : undefined;
    expect(JSON.parse(body ?? '{}')).toMatchObject({
      data: { observed: { notBefore: new Date(notBefore).toISOString() } },
    });
  });
});

it('is seen to be as stored without decoding only where both are there and alike', () => {
  expect(isAsStored(context, read('PAID'), stored())).toBe(true);
  expect(isAsStored(context, read('PENDING'), stored())).toBe(false);
  expect(isAsStored(context, read('PAID'), null)).toBe(false);
  expect(isAsStored(context, unknown, stored())).toBe(false);
});
