import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startStage, type DeliveryStage, type ShownAttempt } from '../support/daemon/delivery-stage.ts';
import { createTestAuthority, type Issued, type TestAuthority } from '../support/receivers/certificates.ts';
import { startMutualReceiver, type MutualReceiver } from '../support/receivers/mutual-receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { skipWithout } from '../support/skip-without.ts';

const redis = testRedis();
let authority: TestAuthority;
let successor: TestAuthority;
let stage: DeliveryStage;
let receiver: MutualReceiver;
let own: Issued;
let next: Issued;
let [alice, alicia, bob]: Issued[] = [];

const issued = (each: Issued | undefined) => ({ cert: each?.cert, key: each?.key });
const url = (path: string) => `https://127.0.0.1:${receiver.port}/${path}`;

/** Moves filings until the work is done, and awaits that all of it arrived. */
async function underLoad(paths: readonly string[], work: () => Promise<void>): Promise<void> {
  let goesOn = true;
  const moving = (async () => {
    while (goesOn) {
      await stage.move();
      await wait(100);
    }
  })();
  try {
    await work();
  } finally {
    goesOn = false;
    await moving;
  }
  await vi.waitFor(async () => {
    const shown = await Promise.all(paths.map(stage.show));
    expect(shown.map(({ lag }) => lag)).toEqual(paths.map(() => 0));
  }, 20_000);
}

describe.skipIf(skipWithout('openssl'))('mutual TLS (skipped without openssl)', () => {
  beforeAll(async () => {
    [authority, successor] = await Promise.all([createTestAuthority(), createTestAuthority('successor')]);
    [own, next, alice, alicia, bob] = await Promise.all([
      authority.issue('endpoint'),
      successor.issue('endpoint'),
      authority.issue('alice'),
      successor.issue('alicia'),
      authority.issue('bob'),
    ]);
    receiver = await startMutualReceiver(own, authority.cert + successor.cert);
    stage = await startStage(redis, 10);
  }, 60_000);
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await Promise.all([authority, successor].map((each) => each[Symbol.asyncDispose]()));
    await redis.cleanup();
  });

  test('certificates and authorities of both sides change under load without a failed attempt', async () => {
    const both = authority.cert + successor.cert;
    const one = await stage.subscribe(url('one'), {
      tls: { ...issued(alice), ca: authority.cert },
    });
    const other = await stage.subscribe(url('other'), { tls: { ...issued(bob), ca: both } });
    const patch = (tls: object) => stage.daemon.api.ok('PATCH', one, { tls });
    let turned = 0;
    await underLoad([one, other], async () => {
      await wait(500);
      // The endpoint changes its key and its authority.
      await patch({ ...issued(alice), ca: both });
      await wait(1_500);
      receiver.become(next, both);
      await wait(500);
      await patch({ ...issued(alice), ca: successor.cert });
      // The client changes its certificate, a few times.
      for (const each of [alicia, alice, alicia, alice, alicia]) {
        await patch({ ...issued(each), ca: both });
        await wait(200);
      }
      await wait(1_500);
      turned = receiver.requests.length;
      await wait(500);
    });
    for (const path of [one, other]) {
      const attempts = await stage.all<ShownAttempt>(`${path}/attempts`);
      expect(attempts.length).toBeGreaterThan(50);
      expect(attempts.filter(({ outcome }) => outcome !== 'delivered')).toEqual([]);
    }
    const shown = (path: string, from = 0) =>
      new Set(receiver.requests.slice(from).flatMap((each) => (each.path === path ? [each.client] : [])));
    expect(shown('/one')).toEqual(new Set(['alice', 'alicia']));
    expect(shown('/one', turned)).toEqual(new Set(['alicia']));
    expect(shown('/other')).toEqual(new Set(['bob']));
  }, 60_000);

  test('an endpoint that refuses the certificate has its events wait, and gets them with the right one', async () => {
    receiver.become(next, successor.cert);
    const path = await stage.subscribe(url('refused'), { tls: { ...issued(bob), ca: successor.cert } });
    const tested = await stage.daemon.api.ok<{ outcome: string; reason: string }>('POST', `${path}/test`);
    expect(tested).toMatchObject({ outcome: 'tls_error', reason: expect.stringMatching(/certificate/) });
    await stage.move();
    await vi.waitFor(async () => expect((await stage.show(path)).state).toBe('failing'), 10_000);
    // What the test call has said, each attempt and each event say as well.
    const [attempt] = await stage.all<ShownAttempt & { reason: string }>(`${path}/attempts`);
    expect(attempt).toMatchObject({ outcome: 'tls_error', reason: tested.reason });
    const deliveries = `/v1/accounts/default/events/${attempt?.eventId}/deliveries`;
    expect(await stage.all(deliveries)).toContainEqual(
      expect.objectContaining({ lastOutcome: 'tls_error', lastReason: tested.reason }),
    );
    await stage.daemon.api.ok('PATCH', path, { tls: { ...issued(alicia), ca: successor.cert } });
    await vi.waitFor(
      async () => expect(await stage.show(path)).toMatchObject({ state: 'active', lag: 0 }),
      10_000,
    );
    expect(receiver.requests.filter((each) => each.path === '/refused').length).toBe(stage.filings.length);
  }, 30_000);
});
