import { expect, test } from 'vitest';
import {
  boundBehind,
  byAccountAndStatus,
  memberOf,
  rankOf,
  readPlace,
  writePlace,
} from '../../../../src/filings/detection/age-rank.ts';

const place = { since: 1_700_000_000_000, account: 'b', status: 'ON HOLD', id: 'f 1' };

test('a place comes back from its text, whatever is in status and id', () => {
  expect(readPlace(writePlace(place))).toEqual(place);
  expect(readPlace(writePlace({ ...place, shiftMs: 7 }))).toEqual({ ...place, shiftMs: 7 });
  expect(() => readPlace('1700 b')).toThrow(RangeError);
});

test('behind a place each source goes on with what is not passed yet', () => {
  const statuses = ['ON HOLD'];
  const sources = ['a', 'b', 'c'].flatMap((account) => statuses.map((status) => ({ account, status })));
  const all = sources.flatMap((source) =>
    [place.since - 1, place.since, place.since + 1].flatMap((since) =>
      ['f 0', 'f 1', 'f 2'].map((id) => ({ ...source, since, id })),
    ),
  );
  for (const order of ['newest', 'oldest'] as const) {
    const sign = order === 'newest' ? 1 : -1;
    const sorted = all.toSorted(
      (a, b) => sign * (b.since - a.since) || byAccountAndStatus(a, b) || sign * (a.id < b.id ? -1 : 1),
    );
    const at = sorted.findIndex(
      ({ account, since, id }) => account === 'b' && since === place.since && id === 'f 1',
    );
    const left = sources.flatMap((source) => {
      const bound = boundBehind(source, order, place) ?? '';
      return all
        .filter(({ account }) => account === source.account)
        .filter(({ status, since, id }) => {
          const member = memberOf(status, rankOf(since), id);
          const isOn = order === 'newest' ? member > bound.slice(1) : member < bound.slice(1);
          return isOn || (bound.startsWith('[') && member === bound.slice(1));
        });
    });
    expect(new Set(left)).toEqual(new Set(sorted.slice(at + 1)));
  }
});
