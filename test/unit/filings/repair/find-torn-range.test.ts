import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { OutlinedEntry } from '../../../../src/events/log-entry.ts';
import type { Checkpoint } from '../../../../src/events/timeline.ts';
import {
  findTornRange,
  readBodyFacts,
  type LogStretch,
} from '../../../../src/filings/repair/find-torn-range.ts';

const beginning: Checkpoint = { position: 0, timeline: '0'.repeat(48) };

/** Entries of these filings that follow from a checkpoint. */
function follow(after: Checkpoint, ...filings: readonly string[]): OutlinedEntry[] {
  const entries: OutlinedEntry[] = [];
  let { position, timeline } = after;
  for (const filingId of filings) {
    const id = `evt_${filingId}`;
    timeline = hash('sha1', timeline.slice(0, 12) + id).slice(0, 12) + timeline.slice(12);
    position += 1;
    entries.push({
      position,
      timeline,
      id,
      type: 'filing.paid',
      filingId,
      state: '',
      status: '',
      recordedAt: 1,
      bytes: 2,
    });
  }
  return entries;
}

const factsOf = ({ type, filingId, bytes }: OutlinedEntry) => ({
  type,
  filingId,
  bytes,
  sequence: 1,
  status: '',
});

function look(entries: readonly OutlinedEntry[], changes: Partial<LogStretch> = {}) {
  const newest = entries.at(-1) ?? null;
  return findTornRange({
    entries,
    bodies: entries.map(factsOf),
    head: newest ?? beginning,
    newest,
    checkedTo: 0,
    isOpen: true,
    ...changes,
  });
}

const whole = follow(beginning, 'a', 'b', 'c');
const [a, b, c] = whole as [OutlinedEntry, OutlinedEntry, OutlinedEntry];
// What was written in the place of b and c, by those who knew nothing of them.
const [x, y] = follow(a, 'x', 'y') as [OutlinedEntry, OutlinedEntry];

describe('a log in which nothing was carried out by half', () => {
  test.each<[string, readonly OutlinedEntry[], Partial<LogStretch>]>([
    ['that is whole', whole, {}],
    ['that is empty', [], {}],
    ['that was trimmed', [b, c], {}],
    ['of which all was trimmed', [], { head: c, newest: null }],
    ['with a hole', [a, c], {}],
    ['with entries of before timelines', whole.map((entry) => ({ ...entry, timeline: '' })), { head: c }],
    ['that goes on behind what was looked at', [a, b], { head: c, newest: c }],
    ['with a torn range that is known', [a, b, y], { checkedTo: 3 }],
  ])('%s', (_, entries, changes) => {
    expect(look(entries, changes)).toBeNull();
  });
});

describe('a log in which half a transaction was carried out', () => {
  test.each<[string, readonly OutlinedEntry[], Partial<LogStretch>, unknown]>([
    ['by a newest entry beyond the head', whole, { head: b, checkedTo: 2 }, { from: 3, to: 3, mixed: [] }],
    ['by a head of another entry', [a, b], { head: x, checkedTo: 1 }, { from: 2, to: 2, mixed: [] }],
    [
      'by a body of another filing',
      [a, b],
      { head: x, checkedTo: 1, bodies: [factsOf(a), factsOf(x)] },
      { from: 2, to: 2, mixed: [2] },
    ],
    [
      'by a body of another length',
      [a, b],
      { head: x, checkedTo: 1, bodies: [factsOf(a), { ...factsOf(b), bytes: 3 }] },
      { from: 2, to: 2, mixed: [2] },
    ],
    [
      'by a body that is missing',
      [a, b],
      { head: x, bodies: [factsOf(a), null] },
      { from: 1, to: 2, mixed: [2] },
    ],
    [
      'by an entry that does not follow',
      [a, b, y],
      { checkedTo: 1, bodies: [factsOf(a), factsOf(x), factsOf(y)] },
      { from: 2, to: 2, mixed: [2] },
    ],
    [
      'where nobody has looked since long',
      [a, b, y],
      { isOpen: false, checkedTo: 1 },
      { from: 2, to: 2, mixed: [] },
    ],
    [
      'where many entries were looked at before',
      [...whole, ...follow(c, ...Array.from({ length: 300 }, (_each, i) => `n${i}`))],
      { head: { position: 303, timeline: 'f'.repeat(48) }, checkedTo: 1 },
      { from: 303, to: 303, mixed: [] },
    ],
  ])('%s', (_, entries, changes, torn) => {
    expect(look(entries, changes)).toEqual(torn);
  });
});

test('a body says of which event it is, also one that is no JSON', () => {
  const body = (text: string) => readBodyFacts(Buffer.from(text));
  const text = JSON.stringify({
    type: 'filing.paid',
    data: { filingId: 'f', sequence: 3, status: 'PAID', x: 1 },
  });
  expect(body(text)).toEqual({
    type: 'filing.paid',
    bytes: text.length,
    filingId: 'f',
    sequence: 3,
    status: 'PAID',
  });
  expect(body('{"type":"ping"}')).toEqual({ type: 'ping', bytes: 15, filingId: '', sequence: 0, status: '' });
  for (const broken of ['', 'null', '{', '3']) expect(body(broken)).toMatchObject({ type: '', filingId: '' });
});
