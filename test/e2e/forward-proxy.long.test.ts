import { afterAll, expect, test, vi } from 'vitest';
import { startForwardProxy, status } from '../support/connections/forward-proxy.ts';
import {
  startStage,
  type DeliveryStage,
  type ShownAttempt,
  type ShownSubscription,
} from '../support/daemon/delivery-stage.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 50 };
const sequencesOf = ({ accepted }: Receiver, filing: string) =>
  accepted.filter(({ filingId }) => filingId === filing).map(({ sequence }) => sequence);

type Shown = ShownSubscription & { readonly lastError: string | null };

async function showAll(stage: DeliveryStage): Promise<Shown[]> {
  return (await stage.subscriptions()) as Shown[];
}

async function gauge(stage: DeliveryStage, line: string): Promise<string> {
  const text = await (await fetch(`${stage.daemon.url}/metrics`)).text();
  return text.split('\n').find((each) => each.startsWith(line)) ?? '';
}

async function startReceivers(count: number, stack: AsyncDisposableStack): Promise<Receiver[]> {
  const receivers = await Promise.all(Array.from({ length: count }, () => startReceiver()));
  for (const receiver of receivers) stack.use(receiver);
  return receivers;
}

test('a forward proxy that is away, and then takes no credentials, costs no attempt, disables nothing, and all is delivered in order once it is back', async () => {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await startForwardProxy());
  const receivers = await startReceivers(5, stack);
  const stage = stack.use(
    await startStage(redis, 10, {
      EGRESS_PROXY: `http://user:p4ssw0rd@127.0.0.1:${proxy.port}`,
      DELIVERY_RETRY_MS: '50,50',
      DELIVERY_DISABLE_AFTER_MS: '1000',
    }),
  );
  for (const { url } of receivers) await stage.subscribe(url);
  await stage.move();
  const acceptedBy = () => receivers.map(({ accepted }) => accepted.length);
  await vi.waitFor(() => expect(acceptedBy()).toEqual(Array(5).fill(10)), slow);
  expect(proxy.connects[0]?.head).toContain(
    `proxy-authorization: Basic ${Buffer.from('user:p4ssw0rd').toString('base64')}`,
  );

  // Callbacks are in flight when it goes away: those of every filing, so that no poll sees two changes as one.
  for (const receiver of receivers) receiver.answer('hang');
  await stage.move();
  await vi.waitFor(() => expect(receivers.every(({ received }) => received.length === 20)).toBe(true), slow);
  await proxy.stop();
  for (const receiver of receivers) receiver.answer(200);
  await stage.move();
  const expectHeld = () =>
    vi.waitFor(async () => {
      for (const shown of await showAll(stage)) {
        expect(shown).toMatchObject({ enabled: true, state: 'failing', consecutiveFailures: 0, lag: 20 });
        expect(shown.lastError).toMatch(/^The forward proxy .* Callbacks wait until it works again\.$/);
      }
    }, slow);
  await expectHeld();
  expect(await stage.daemon.api.ok('GET', '/health/ready')).toMatchObject({
    ready: true,
    reasons: [expect.stringMatching(/^The forward proxy .* see EGRESS_PROXY\.$/)],
  });
  expect(await gauge(stage, 'filing_webhooks_proxy_up{')).toBe('filing_webhooks_proxy_up{proxy="egress"} 0');

  proxy.answer(() => status(407));
  const asked = proxy.connects.length;
  await proxy.start();
  // Longer than endpoints may fail before they are disabled.
  const until = Date.now() + 1_500;
  await vi.waitFor(() => expect(proxy.connects.length - asked >= 1 && Date.now() > until).toBe(true), slow);
  await expectHeld();
  // Probes alone have gone to it, a second apart or more.
  expect(proxy.connects.length - asked).toBeLessThan((Date.now() - until) / 800 + 4);

  proxy.answer(() => 'tunnel');
  for (const receiver of receivers) {
    await vi.waitFor(() => expect(receiver.accepted.length).toBeGreaterThanOrEqual(30), slow);
    for (const filing of stage.filings)
      expect([...new Set(sequencesOf(receiver, filing))]).toEqual([1, 2, 3]);
    expect(receiver.overlapping).toEqual([]);
  }
  await vi.waitFor(async () => {
    for (const shown of await showAll(stage)) {
      expect(shown).toMatchObject({ state: 'active', lag: 0, consecutiveFailures: 0, lastError: null });
      const path = `/v1/accounts/default/subscriptions/${shown.id}`;
      expect(await stage.all(`${path}/dead-letters`)).toEqual([]);
      const attempts = await stage.all<ShownAttempt>(`${path}/attempts`);
      // No attempt has counted, so none has a number beyond the first.
      expect(new Set(attempts.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      expect(new Set(attempts.map(({ outcome }) => outcome))).toEqual(new Set(['delivered', 'proxy_error']));
    }
  }, slow);
  expect(JSON.stringify(stage.daemon.logs)).not.toMatch(/p4ssw0rd|dXNlcjpwNHNzdzByZA/);
  expect(stage.daemon.logs.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['proxy.down', 'proxy.back']),
  );
}, 60_000);

test('a proxy that cannot connect to one endpoint disables that one, and delivers to the others', async () => {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await startForwardProxy());
  const receivers = await startReceivers(6, stack);
  const [first] = receivers;
  const stage = stack.use(
    await startStage(redis, 4, {
      EGRESS_PROXY: proxy.url,
      DELIVERY_RETRY_MS: '50,50',
      DELIVERY_DISABLE_AFTER_MS: '1000',
    }),
  );
  for (const { url } of receivers) await stage.subscribe(url);
  proxy.answer(({ authority }) => (authority.endsWith(`:${first?.port}`) ? status(502) : 'tunnel'));
  const states = async () => (await showAll(stage)).map(({ state }) => state);
  await vi.waitFor(async () => {
    await stage.move();
    expect((await states()).filter((state) => state === 'disabled')).toHaveLength(1);
  }, slow);
  await vi.waitFor(
    async () => expect((await showAll(stage)).filter(({ lag }) => lag > 0)).toHaveLength(1),
    slow,
  );
}, 90_000);

test('polls go through their own proxy, and its failure is named as such', async () => {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await startForwardProxy());
  const stage = stack.use(await startStage(redis, 2, { PARTNER_PROXY: proxy.url }));
  const { host } = new URL(stage.environment['PARTNER_BASE_URL'] ?? '');
  expect(new Set(proxy.connects.map(({ authority }) => authority))).toEqual(new Set([host]));
  const polled = proxy.connects.length;
  await stage.move();
  const health = async () => {
    const { health: shown } = await stage.daemon.api.ok<{
      health: { state: string; lastError: string | null };
    }>('GET', '/v1/accounts/default');
    return shown;
  };
  await vi.waitFor(async () => expect((await stage.all('/v1/accounts/default/events')).length).toBe(2), slow);
  // Connections are kept.
  expect(proxy.connects.length - polled).toBeLessThan(5);
  await proxy.stop();
  await vi.waitFor(
    async () => expect((await health()).lastError).toMatch(/The forward proxy cannot be reached/),
    slow,
  );
  expect(await stage.daemon.api.ok('GET', '/health/ready')).toMatchObject({
    ready: true,
    reasons: [expect.stringMatching(/see PARTNER_PROXY\.$/)],
  });
  await proxy.start();
  await stage.move();
  await vi.waitFor(async () => expect((await stage.all('/v1/accounts/default/events')).length).toBe(4), slow);
  expect((await health()).lastError).toBeNull();
}, 60_000);
