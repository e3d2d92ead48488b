import { describe, expect, it } from 'vitest';
import {
  isAskedFor,
  newReplayState,
  requestText,
  type ReplayRequest,
} from '../../../../src/delivery/replay/replay.ts';

const all: ReplayRequest = {
  after: null,
  before: null,
  eventTypes: null,
  filingId: null,
  deadLettersOnly: false,
};
const event = { type: 'filing.paid', filingId: 'f1', recordedAt: 1_000 };

describe('what a replay asks for', () => {
  it.each([
    [{}, true],
    [{ after: 1_000 }, true],
    [{ after: 1_001 }, false],
    [{ before: 1_001 }, true],
    [{ before: 1_000 }, false],
    [{ after: 500, before: 1_500 }, true],
    [{ eventTypes: ['filing.paid'] }, true],
    [{ eventTypes: ['account.*', 'filing.*'] }, true],
    [{ eventTypes: ['filing.pai'] }, false],
    [{ eventTypes: [] }, false],
    [{ filingId: 'f1' }, true],
    [{ filingId: 'f2' }, false],
  ])('%j: %s', (narrowed, expected) => {
    expect(isAskedFor({ ...all, ...narrowed }, event)).toBe(expected);
  });

  it('is the same however the types are ordered or repeated', () => {
    const text = requestText({ ...all, eventTypes: ['b', 'a'] });
    expect(requestText({ ...all, eventTypes: ['a', 'b', 'a'] })).toBe(text);
    expect(requestText({ ...all, eventTypes: null })).not.toBe(text);
    expect(requestText({ ...all, deadLettersOnly: true })).not.toBe(requestText(all));
    expect(requestText({ ...all, after: 1 })).not.toBe(requestText({ ...all, before: 1 }));
  });
});

it('a replay of nothing is finished before it begins', () => {
  expect(newReplayState({ first: 1, last: 0 }).finished).toBe(true);
  expect(newReplayState({ first: 5, last: 5 })).toMatchObject({ finished: false, cursor: 4, done: '' });
});
