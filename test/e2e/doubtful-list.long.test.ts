import { afterAll, expect, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { partnerRow, startHostilePartner } from '../support/partner/hostile-partner.ts';
import { receiverSecret, startReceiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const account = '/v1/accounts/default';
const rowsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => partnerRow(`${name}${i}`, 'PENDING'));

interface Health {
  readonly state: string;
  readonly doubt: { readonly reason: string; readonly accepted: boolean } | null;
}

test("another account's list is told to nobody, whatever is killed meanwhile, until it is accepted", async () => {
  await using partner = await startHostilePartner(rowsOf('f', 60));
  await using receiver = await startReceiver();
  const start = () =>
    startDaemonProcess({
      REDIS_URL: redis.url,
      REDIS_PREFIX: redis.prefix,
      PARTNER_BASE_URL: partner.baseUrl,
      PARTNER_KEY: partner.key,
      PARTNER_MAX_RPS: '1000',
    });
  const health = async ({ api }: DaemonProcess) => (await api.ok<{ health: Health }>('GET', account)).health;
  const untilState = async (daemon: DaemonProcess, state: string) =>
    vi.waitFor(async () => expect((await health(daemon)).state).toBe(state), 30_000);
  const polls = (daemon: DaemonProcess) => daemon.logs.filter(({ msg }) => msg === 'poll.doubtful').length;
  // What a kill has left in flight is sent again, under the same id.
  const told = () =>
    [...new Map(receiver.received.map(({ id, raw }) => [id, raw])).values()].map(
      (raw) => JSON.parse(raw) as Told,
    );

  let daemon = await start();
  try {
    await untilState(daemon, 'ok');
    const eventTypes = ['filing.*', 'account.*'];
    await daemon.api.ok('POST', `${account}/subscriptions`, {
      url: receiver.url,
      secret: receiverSecret,
      eventTypes,
    });
    expect((await daemon.api.call('POST', `${account}/accept`)).status).toBe(409);

    const own = partner.rows;
    partner.rows = rowsOf('x', 30);
    await untilState(daemon, 'doubtful');
    await daemon.end('SIGKILL');
    daemon = await start();
    await vi.waitFor(() => expect(polls(daemon)).toBeGreaterThan(2), 30_000);
    expect((await health(daemon)).doubt).toMatchObject({ reason: 'other_list', accepted: false });

    partner.rows = own;
    partner.put('f7', { status: 'REJECTED', rejectionReason: 'unsigned' });
    await untilState(daemon, 'ok');
    await vi.waitFor(() => expect(told()).toHaveLength(3), 20_000);
    expect(
      told()
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['account.doubtful', 'account.recovered', 'filing.rejected']);

    partner.rows = rowsOf('x', 30);
    await untilState(daemon, 'doubtful');
    const accepted = await daemon.api.call<{ health: Health }>('POST', `${account}/accept`);
    await daemon.end('SIGKILL');
    expect([accepted.status, accepted.body.health.doubt?.accepted]).toEqual([202, true]);
    daemon = await start();
    await vi.waitFor(async () => expect((await health(daemon)).doubt).toBeNull(), 30_000);
    await vi.waitFor(() => expect(new Set(told().map(keyOf)).size).toBe(3 + 2 + 30 + 60), 20_000);
    const removed = told().filter(({ type }) => type === 'filing.removed');
    for (const { data } of removed) expect(data.sequence).toBe(data.filingId === 'f7' ? 2 : 1);
    expect((await daemon.api.call('POST', `${account}/accept`)).status).toBe(409);
  } finally {
    await daemon.end('SIGKILL');
  }
}, 120_000);

interface Told {
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly filingId?: string; readonly sequence?: number };
}

function keyOf({ type, timestamp, data }: Told): string {
  return `${type} ${data.filingId ?? timestamp}`;
}
