import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDigests } from '../../../../src/daemon/upkeep/digests.ts';
import { createMetrics } from '../../../../src/monitoring/metrics.ts';
import { createApiFixture, type ApiFixture } from '../../../support/api/api-fixture.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
const metrics = createMetrics();
const zone = 'America/Chicago';
const digest = { at: '08:00', zone, days: 'mon-fri' };
// Monday to Sunday, 08:00 in Chicago.
const monday = Date.parse('2030-01-07T14:00:00Z');
const day = 86_400_000;
let fixture: ApiFixture;

beforeAll(async () => {
  fixture = await createApiFixture(client, redis.prefix);
});
afterAll(async () => {
  await fixture.app.close();
  await redis.cleanup();
});

interface Digest {
  readonly id: string;
  readonly data: {
    readonly date: string;
    readonly since: string | null;
    readonly counts: Readonly<Record<string, number>>;
    readonly rejections: readonly { readonly filingId: string; readonly rejectionReason: string }[];
  };
}

/** An account with its digest on workdays, and two processes that look whether one is due. */
async function stage(account: string) {
  const path = await fixture.createAccount(account);
  await fixture.ok('PATCH', path, { digest });
  const { deps } = fixture;
  const stored = await deps.accounts.get(account);
  if (stored === null) throw new Error('it was created');
  const { generation } = await deps.polling.begin(account, stored.incarnation);
  let now = monday;
  let isClockRight = true;
  const woken: string[] = [];
  const open = () =>
    createDigests({
      ...deps,
      waker: { wake: async (name) => void woken.push(name) },
      metrics,
      logger: { info: () => undefined },
      isClockRight: () => isClockRight,
      now: () => now,
    });
  const processes = [open(), open()];
  return {
    path,
    open,
    woken,
    polled: () => deps.polling.write(account, generation, { baselined: true, lastCompletePollAt: now }, 0),
    reject: (...ids: string[]) =>
      fixture.putFilings(
        account,
        ids.map((id) => ({
          id,
          status: 'REJECTED',
          type: 'filing.created',
          rejectionReason: `reason of ${id}`,
        })),
      ),
    doubtClock: (is: boolean) => void (isClockRight = !is),
    async lookAt(at: number) {
      now = at;
      const found = await deps.accounts.get(account);
      if (found === null) throw new Error('it is there');
      for (let i = 0; i < 2; i += 1) await Promise.all(processes.map((look) => look(found)));
    },
    async digests(): Promise<Digest[]> {
      const { items } = await fixture.listAll<Digest>(`${path}/events`, { types: 'account.digest' });
      return items;
    },
  };
}

test('comes once a local day over all processes, on its days and from its time on', async () => {
  const { lookAt, digests, polled, woken } = await stage('daily');
  await polled();
  await lookAt(monday - 1);
  expect(await digests()).toEqual([]);
  for (let i = 0; i < 7; i += 1) {
    await lookAt(monday + i * day);
    await lookAt(monday + i * day + 10 * 3_600_000);
  }
  const dates = (await digests()).map(({ data }) => data.date);
  expect(dates).toEqual(['2030-01-07', '2030-01-08', '2030-01-09', '2030-01-10', '2030-01-11']);
  expect(woken).toHaveLength(5);
});

test('is made up the same local day after an outage, and not later', async () => {
  const { lookAt, digests, polled } = await stage('away');
  await polled();
  await lookAt(monday + 15 * 3_600_000);
  await lookAt(monday + 3 * day - 1);
  await lookAt(monday + 3 * day + 1);
  expect((await digests()).map(({ data }) => data.date)).toEqual(['2030-01-07', '2030-01-10']);
});

test('of the last minute of a day is sent to an account that the round reaches after midnight, once', async () => {
  const beforeMidnight = Date.parse('2030-01-08T05:59:30Z');
  const afterMidnight = beforeMidnight + 40 * 60_000;
  const moments = { early: [beforeMidnight, afterMidnight], late: [afterMidnight, afterMidnight + 60_000] };
  for (const [account, looks] of Object.entries(moments)) {
    const { lookAt, digests, polled, path } = await stage(account);
    await fixture.ok('PATCH', path, { digest: { ...digest, at: '23:59' } });
    await polled();
    for (const at of looks) await lookAt(at);
    await lookAt(beforeMidnight + day);
    await lookAt(afterMidnight + day);
    expect((await digests()).map(({ data }) => data.date)).toEqual(['2030-01-07', '2030-01-08']);
  }
});

test('names what is rejected, the oldest first, and what is new since the digest before', async () => {
  const { lookAt, digests, polled, reject, path } = await stage('rejected');
  await polled();
  await reject('old');
  await fixture.ok('PUT', `${path}/filings/old/seen`, { by: 'Dana' });
  await lookAt(monday);
  // Filings become rejected on the clock of this machine.
  const between = Date.now();
  await fixture.stored.of('rejected').setPolling({ digestAt: between });
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(between);
  await reject('new');
  await lookAt(monday + day);
  const [first, second] = await digests();
  expect(first?.data).toMatchObject({
    since: null,
    counts: { open: 1, new: 1, overdue: 0, unseen: 0, answered: 0, toldToNobody: 1, failingEndpoints: 0 },
  });
  expect(second?.data).toMatchObject({
    since: new Date(between).toISOString(),
    counts: { open: 2, new: 1, unseen: 1 },
    rejections: [
      {
        filingId: 'old',
        policyNumber: 'P-old',
        insuredsName: 'Acme',
        rejectionReason: 'reason of old',
        seen: true,
      },
      { filingId: 'new', seen: false },
    ],
  });
  expect(second?.id).not.toBe(first?.id);
});

test('names what is due first before all others, and counts what is overdue', async () => {
  const { lookAt, digests, polled, path } = await stage('due');
  await polled();
  const datedOf = (id: string, policyEffectiveDate: string | null) =>
    fixture.putFilings('due', [
      { id, status: 'REJECTED', type: 'filing.created', details: { policyEffectiveDate } },
    ]);
  await datedOf('undated', null);
  await datedOf('later', '2029-12-20T00:00:00.000Z');
  await datedOf('overdue', '2029-11-01T00:00:00.000Z');
  await fixture.ok('PATCH', path, { due: { TX: 'P60D' } });
  await lookAt(monday);
  const [only] = await digests();
  expect(only?.data.counts).toMatchObject({ open: 3, overdue: 1 });
  expect(only?.data.rejections).toMatchObject([
    { filingId: 'overdue', dueAt: '2029-12-31T00:00:00.000Z' },
    { filingId: 'later', dueAt: '2030-02-18T00:00:00.000Z' },
    { filingId: 'undated', dueAt: null },
  ]);
});

test('leaves out what is answered, and counts it', async () => {
  const { lookAt, digests, polled, reject, path } = await stage('answered');
  await polled();
  await reject('old', 'new');
  await fixture.ok('PUT', `${path}/filings/old/answer`, { answeredBy: 'new' });
  await lookAt(monday);
  const [only] = await digests();
  expect(only?.data.counts).toMatchObject({ open: 1, answered: 1 });
  expect(only?.data.rejections.map(({ filingId }) => filingId)).toEqual(['new']);
});

test('names fifty of many, and long reasons by their beginning', async () => {
  const { lookAt, digests, polled, reject } = await stage('many');
  await polled();
  await reject(...Array.from({ length: 60 }, (_, i) => `${'x'.repeat(400)}${i}`));
  await lookAt(monday);
  const [only] = await digests();
  expect(only?.data.counts).toMatchObject({ open: 60 });
  expect(only?.data.rejections).toHaveLength(50);
  expect(only?.data.rejections[0]?.rejectionReason.length).toBe(300);
});

test('counts endpoints that fail, those disabled for it included', async () => {
  const { lookAt, digests, polled, path } = await stage('failing');
  await polled();
  const url = 'http://127.0.0.1:9000/hook';
  for (let i = 0; i < 3; i += 1) await fixture.ok('POST', `${path}/subscriptions`, { url });
  const { items } = await fixture.listAll<{ id: string }>(`${path}/subscriptions`);
  const own = fixture.stored.of('failing');
  await own.of(items[0]?.id ?? '').setState({ failures: '3' });
  await own.of(items[1]?.id ?? '').setState({ enabled: '0', disabledReason: 'x', disabledAt: '1' });
  await lookAt(monday);
  expect((await digests())[0]?.data.counts).toMatchObject({ failingEndpoints: 2 });
});

test('waits for the first complete poll, and for a clock that can be believed', async () => {
  const { lookAt, digests, polled, doubtClock } = await stage('waits');
  await lookAt(monday);
  await polled();
  doubtClock(true);
  await lookAt(monday + 1);
  expect(await digests()).toEqual([]);
  doubtClock(false);
  await lookAt(monday + 2);
  expect(await digests()).toHaveLength(1);
});

test('after a restart the day has its digest, and a store that was set back gets it under the same id', async () => {
  const { lookAt, digests, polled, open } = await stage('restarted');
  await polled();
  await lookAt(monday);
  const [made] = await digests();
  const account = await fixture.deps.accounts.get('restarted');
  if (account === null) throw new Error('it is there');
  await open()(account);
  expect(await digests()).toHaveLength(1);
  await fixture.stored.of('restarted').setPolling({ digestDate: '' });
  await open()(account);
  const again = await digests();
  expect(again.map(({ id }) => id)).toEqual([made?.id, made?.id]);
});

test.each([
  { at: '25:00', zone, days: 'daily' },
  { at: '08:00', zone: 'America/Chikago', days: 'daily' },
  { at: '08:00', zone, days: 'mon-' },
])('%j is refused with what to give', async (wrong) => {
  const path = await fixture.createAccount('wrong');
  const { status, body } = await fixture.call('PATCH', path, { digest: wrong });
  expect(status).toBe(422);
  expect(body['errors']).toMatchObject([{ path: 'digest', message: expect.stringContaining('needs "') }]);
});

test('null ends the digests, and a PUT without one has none', async () => {
  const path = await fixture.createAccount('ended');
  expect(await fixture.ok('PATCH', path, { digest })).toMatchObject({ digest });
  expect(await fixture.ok('PATCH', path, { digest: null })).toMatchObject({ digest: null });
  await fixture.ok('PATCH', path, { digest });
  await fixture.createAccount('ended');
  expect(await fixture.ok('GET', path)).toMatchObject({ digest: null });
});
