import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestDate, digestProblem, type DigestSchedule } from '../../../src/accounts/digest.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const daily = (at: string, zone: string): DigestSchedule => ({ at, zone, days: 'daily' });
const dateAt = (schedule: DigestSchedule, iso: string) => digestDate(schedule, Date.parse(iso));

describe('a schedule', () => {
  test.each([
    [{ at: '08:00', zone: 'America/Chicago', days: 'mon-fri' }],
    [{ at: '00:00', zone: 'UTC', days: 'daily' }],
    [{ at: '23:59', zone: 'Asia/Kathmandu', days: 'mon,wed,sat-sun' }],
    [{ at: '12:30', zone: '+05:30', days: 'sat-mon' }],
  ])('%j is valid', (schedule) => {
    expect(digestProblem(schedule)).toBeNull();
  });

  test.each([
    [{ at: '8:00' }, '"at"'],
    [{ at: '24:00' }, '"at"'],
    [{ at: '08:60' }, '"at"'],
    [{ zone: 'America/Chikago' }, '"zone"'],
    [{ zone: '' }, '"zone"'],
    [{ days: '' }, '"days"'],
    [{ days: 'monday' }, '"days"'],
    [{ days: 'mon-' }, '"days"'],
    [{ days: 'mon-wed-fri' }, '"days"'],
    [{ days: 'mon,' }, '"days"'],
    [{ days: 'Mon' }, '"days"'],
    [{ days: 'daily,mon' }, '"days"'],
  ])('with %j is refused with what to give', (change, named) => {
    const valid = { at: '08:00', zone: 'America/Chicago', days: 'mon-fri' };
    expect(digestProblem({ ...valid, ...change })).toContain(named);
  });
});

test.each([
  // Clocks are set from 02:00 to 03:00: 02:30 does not exist.
  ['02:30', 'America/Chicago', '2026-03-08T07:59:59Z', null],
  ['02:30', 'America/Chicago', '2026-03-08T08:00:00Z', '2026-03-08'],
  // 01:30 exists twice: the first counts.
  ['01:30', 'America/Chicago', '2026-11-01T06:29:59Z', null],
  ['01:30', 'America/Chicago', '2026-11-01T06:30:00Z', '2026-11-01'],
  // Clocks are set forward at midnight: the day begins at 01:00.
  ['00:00', 'Africa/Cairo', '2026-04-23T21:59:59Z', '2026-04-23'],
  ['00:00', 'Africa/Cairo', '2026-04-23T22:00:00Z', '2026-04-24'],
  ['08:00', 'Pacific/Kiritimati', '2026-11-27T18:00:00Z', '2026-11-28'],
  ['08:00', 'Pacific/Pago_Pago', '2026-11-28T18:59:59Z', null],
  // A digest of the last hour of a day stays due for an hour of the next one.
  ['23:59', 'America/Chicago', '2026-11-29T05:58:59Z', null],
  ['23:59', 'America/Chicago', '2026-11-29T05:59:00Z', '2026-11-28'],
  ['23:59', 'America/Chicago', '2026-11-29T06:59:59Z', '2026-11-28'],
  ['23:59', 'America/Chicago', '2026-11-29T07:00:00Z', null],
  ['22:59', 'America/Chicago', '2026-11-29T06:00:00Z', null],
  // Clocks are set from 24:00 to 01:00, and back from 24:00 to 23:00.
  ['23:59', 'America/Santiago', '2026-09-06T03:59:00Z', '2026-09-05'],
  ['23:59', 'America/Santiago', '2026-09-06T04:59:59Z', '2026-09-05'],
  ['23:59', 'America/Santiago', '2026-09-06T05:00:00Z', null],
  ['23:59', 'America/Santiago', '2026-04-05T02:59:00Z', '2026-04-04'],
  ['23:59', 'America/Santiago', '2026-04-05T04:59:59Z', '2026-04-04'],
  ['23:59', 'America/Santiago', '2026-04-05T05:00:00Z', null],
])('%s in %s at %s', (at, zone, now, expected) => {
  expect(dateAt(daily(at, zone), now)).toBe(expected);
});

test('at 23:59 a day without a digest has none, and the night after a day with one is made up', () => {
  const workdays = { at: '23:59', zone: 'UTC', days: 'mon-fri' };
  // A Saturday and a Monday.
  expect(dateAt(workdays, '2026-11-28T00:20:00Z')).toBe('2026-11-27');
  expect(dateAt(workdays, '2026-11-30T00:20:00Z')).toBeNull();
});

test.each([
  ['mon-fri', ['mon', 'tue', 'wed', 'thu', 'fri']],
  ['mon,wed', ['mon', 'wed']],
  ['sat-mon', ['mon', 'sat', 'sun']],
  ['daily', ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']],
])('%s is due on %j', (days, expected) => {
  // A Monday.
  const from = Date.parse('2026-11-23T12:00:00Z');
  const due = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].filter(
    (_, i) => digestDate({ at: '08:00', zone: 'UTC', days }, from + i * day) !== null,
  );
  expect(due).toEqual(expected);
});

test('over a year each local day of a zone is due once, in order, at its time or when clocks have passed it', () => {
  const zones = [
    'America/Chicago',
    'America/New_York',
    'America/Santiago',
    'America/St_Johns',
    'America/Havana',
    'Europe/Berlin',
    'Africa/Cairo',
    'Asia/Beirut',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Pacific/Auckland',
    'UTC',
  ];
  const times = fc.record({
    zone: fc.constantFrom(...zones),
    hours: fc.nat(23),
    minutes: fc.constantFrom(0, 15, 30, 59),
    year: fc.integer({ min: 2008, max: 2030 }),
  });
  fc.assert(
    fc.property(times, ({ zone, hours, minutes, year }) => {
      const at = [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
      const schedule = daily(at, zone);
      const sent: string[] = [];
      let last = '';
      // Looked at every half an hour, as the script that appends does: a date counts once it is beyond the last.
      for (let now = Date.UTC(year, 0, 1); now < Date.UTC(year + 1, 0, 1); now += hour / 2) {
        const date = digestDate(schedule, now);
        if (date === null || date <= last) continue;
        sent.push(date);
        last = date;
      }
      const expected = sent.map((_, i) =>
        new Date(Date.parse(`${sent[0]}T00:00:00Z`) + i * day).toISOString().slice(0, 10),
      );
      expect(sent).toEqual(expected);
      expect(sent.length).toBeGreaterThanOrEqual(364);
    }),
    { numRuns: 8 },
  );
});
