import { expect, test } from 'vitest';
import { recoverState, type Evidence } from '../../../../src/filings/repair/recover-state.ts';

const nothing: Evidence = { newest: null, indexed: null, eventsMax: 0 };
const newest = (data: object | null, type = 'filing.rejected') => ({
  entry: { type, recordedAt: 5 },
  body: data === null ? null : { data },
});
const told = { status: 'REJECTED', sequence: 4, completedAt: null, rejectionReason: 'no' };

test.each<[string, Partial<Evidence>, object]>([
  ['the newest event says all', { newest: newest(told), eventsMax: 9 }, { ...told, removed: false }],
  ['a removed filing stays removed', { newest: newest(told, 'filing.removed') }, { ...told, removed: true }],
  ['no event ever, in the index', { indexed: 'PENDING' }, { status: 'PENDING', sequence: 0 }],
  ['events that were trimmed may have been its own', { indexed: 'PAID', eventsMax: 7 }, { sequence: 7 }],
])('%s', (_, evidence, state) => {
  const recovered = recoverState({ ...nothing, ...evidence });
  expect(recovered).toMatchObject(state);
  expect(recovered.restate).toBeUndefined();
});

test.each<[string, Partial<Evidence>, string]>([
  ['a rejected one without an event', { indexed: 'REJECTED' }, 'REJECTED'],
  ['a completed one without an event, which is in no index', {}, 'COMPLETED'],
  ['one whose newest event cannot be read', { newest: newest(null), indexed: 'PENDING' }, 'PENDING'],
])('%s is told once more with its next read', (_, evidence, status) => {
  expect(recoverState({ ...nothing, ...evidence, eventsMax: 3 })).toMatchObject({
    status,
    sequence: 3,
    restate: true,
  });
});
