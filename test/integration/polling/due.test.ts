import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { Clock } from '../../../src/redis/clock.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const dayMs = 86_400_000;
// Later than the machine's clock, by which the account was created.
const first = Date.UTC(2037, 0, 1);
let partner: HostilePartner;
let tests = 0;
// Goes on by a millisecond whenever it is looked at, and by days when a test says so.
let now = first;
const clock: Clock = { now: () => (now += 1), steadySince: () => 0, synchronise: async () => undefined };

beforeEach(async () => {
  tests += 1;
  now = first;
  partner = await startHostilePartner();
});
afterEach(() => partner[Symbol.asyncDispose]());

const rules = { due: { TX: 'P60D', '*': 'P45D' } };
const effective = { policyEffectiveDate: '2037-01-01T00:00:00.000Z' };
const inState = (stateAbbr: string) => ({ ...effective, filingState: { stateAbbr } });

async function watch(settings: Parameters<typeof watchAccount>[3] = rules) {
  const options = { retries: false, clock, pollIntervalMs: dayMs, sweepIntervalMs: dayMs, ...settings };
  return watchAccount(client, `${redis.prefix}${tests}`, partner, options);
}

/** The filings of which each poll told that they are due, each day of a time, with the day of the year. */
async function liveFor(watched: WatchedAccount, days: number): Promise<string[]> {
  const told: string[] = [];
  for (let day = 0; day < days; day += 1) {
    told.push(...(await watched.pollFor()).filter(isDue).map(shown));
    now += dayMs;
  }
  return told;
}

const isDue = ({ type }: SeenEvent) => type === 'filing.due';
const shown = ({ filingId, due, notAfter }: SeenEvent) =>
  `${filingId} ${(due as { threshold: string }).threshold} on day ${Math.floor((notAfter - first) / dayMs)}`;

it('is said a week before and on the day, by the rule of the state, of filings that are not completed', async () => {
  partner.rows = [
    partnerRow('tx', 'REJECTED', inState('TX')),
    partnerRow('ny', 'PENDING', inState('NY')),
    partnerRow('done', 'COMPLETED', inState('NY')),
    partnerRow('dateless', 'REJECTED', { ...inState('NY'), policyEffectiveDate: null }),
  ];
  const watched = await watch();
  const told = await liveFor(watched, 70);
  expect(told).toEqual(['ny P7D on day 38', 'ny P0D on day 45', 'tx P7D on day 53', 'tx P0D on day 60']);
  const [, , week] = (await watched.events()).filter(isDue);
  const dueAt = '2037-03-02T00:00:00.000Z';
  expect(week).toMatchObject({
    filingId: 'tx',
    sequence: 1,
    previousStatus: 'REJECTED',
    changed: [],
    filing: { id: 'tx' },
    dueAt,
    due: { dueAt, threshold: 'P7D', seen: false },
  });
});

it('is said once of what was passed in an outage, by all processes and after each restart', async () => {
  partner.rows = [partnerRow('tx', 'REJECTED', inState('TX'))];
  const watched = await watch();
  await liveFor(watched, 50);
  now += 20 * dayMs;
  expect(await liveFor(watched, 3)).toEqual([expect.stringMatching(/^tx P0D on day 7\d$/)]);
  // A process that begins, and one that has looked at everything before.
  expect(await liveFor(await watch(), 3)).toEqual([]);
  expect(await liveFor(watched, 3)).toEqual([]);
});

it('is said again for another due date: by other rules, or of a date that was corrected', async () => {
  partner.rows = [partnerRow('tx', 'REJECTED', inState('TX'))];
  await liveFor(await watch(), 62);
  expect(await liveFor(await watch({ due: { TX: 'P70D' } }), 20)).toEqual([
    'tx P7D on day 63',
    'tx P0D on day 70',
  ]);
  partner.put('tx', { policyEffectiveDate: '2037-02-01T00:00:00.000Z' });
  const corrected = await watch({ due: { TX: 'P70D' }, dueWarnings: ['P1D'] });
  // Without a change of the status the date is read when the former one seems to be passed.
  partner.put('tx', { rejectionReason: 'another' });
  expect(await liveFor(corrected, 40)).toEqual(['tx P1D on day 100']);
});

it('takes a corrected date over before it says anything', async () => {
  partner.rows = [partnerRow('tx', 'PENDING', inState('TX'))];
  const watched = await watch();
  await liveFor(watched, 50);
  partner.put('tx', { policyEffectiveDate: '2037-01-11T00:00:00.000Z' });
  expect(await liveFor(watched, 30)).toEqual(['tx P7D on day 63', 'tx P0D on day 70']);
});

it('stands in the event of an answer that a poll finds', async () => {
  const same = { ...inState('TX'), policyNumber: 'SL-1' };
  partner.rows = [partnerRow('old', 'REJECTED', same)];
  const watched = await watch();
  await watched.pollFor();
  partner.put('new', { ...same, id: 'new' });
  const [, resubmitted] = await watched.pollFor();
  expect(resubmitted).toMatchObject({ type: 'filing.resubmitted', dueAt: '2037-03-02T00:00:00.000Z' });
});

it('is not said of a filing that was completed or removed in time, nor where no warning is wanted', async () => {
  partner.rows = [partnerRow('a', 'PENDING', inState('TX')), partnerRow('b', 'PENDING', inState('TX'))];
  const watched = await watch();
  await liveFor(watched, 40);
  partner.put('a', { status: 'COMPLETED', completedAt: '2037-02-10T00:00:00Z' });
  partner.remove('b');
  expect(await liveFor(watched, 40)).toEqual([]);
  partner.rows.push(partnerRow('c', 'PENDING', inState('TX')));
  expect(await liveFor(await watch({ ...rules, dueWarnings: [] }), 5)).toEqual([]);
  expect(await liveFor(watched, 5)).toEqual(['c P0D on day 85']);
});
