import { afterAll, describe, expect, test, vi } from 'vitest';
import { questionsMax } from '../../../src/delivery/ownership.ts';
import { subscriptionState, type Subscription } from '../../../src/subscriptions/subscription.ts';
import {
  owner,
  startOwnedEndpoint,
  type OwnedEndpoint,
  type OwnerAnswer,
} from '../../support/receivers/owned-endpoint.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness, type Harness, type HarnessOptions } from './drain-harness.ts';

const redis = testRedis();
// The tests above would use up the minute's questions to this machine.
const [scanned, shared, woken] = [testRedis(), testRedis(), testRedis()];
afterAll(() => Promise.all([redis, scanned, shared, woken].map((one) => one.cleanup())));

/** A subscription to be verified, with three events that wait for it. */
async function waiting(
  endpoint: OwnedEndpoint,
  settings: Partial<Subscription> = { verification: 'challenge' },
  options: HarnessOptions = {},
) {
  const harness = await createHarness(redis, options);
  const start = options.now?.() ?? Date.now();
  const id = await harness.subscribe(endpoint.url, {
    verified: null,
    createdAt: start,
    updatedAt: start,
    ...settings,
  });
  await harness.append('a', 'b', 'c');
  return { harness, id, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
}

const filings = ({ callbacks }: OwnedEndpoint) =>
  callbacks.map(({ raw }) => (JSON.parse(raw) as { data: { filingId: string } }).data.filingId);
const stateOf = async ({ state }: Harness, id: string) => subscriptionState(await state(id));

describe('a challenge', () => {
  test('is answered by the owner, who then gets what has waited, in its order', async () => {
    await using endpoint = await startOwnedEndpoint();
    await using stage = await waiting(endpoint);
    const { harness, id } = stage;
    expect(await stateOf(harness, id)).toBe('unverified');
    endpoint.answer = (challenge) => {
      expect(endpoint.callbacks).toEqual([]);
      return owner(challenge);
    };
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(filings(endpoint).toSorted()).toEqual(['a', 'b', 'c']);
    expect(endpoint.questions).toHaveLength(1);
    expect(endpoint.questions[0]).toMatchObject({ method: 'POST', url: '/callbacks?key=1' });
    const { type, data } = JSON.parse(endpoint.questions[0]?.raw ?? '') as { type: string; data: object };
    expect(type).toBe('subscription.challenge');
    expect(data).toEqual({
      account: harness.account,
      subscription: id,
      challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    const record = await harness.subscriptions.get(harness.account, id);
    expect(record?.subscription.verified).toMatchObject({ method: 'challenge' });
    expect(await stateOf(harness, id)).toBe('active');
  });

  test.each<[string, (challenge: string, raw: string) => OwnerAnswer]>([
    ['a plain text', (challenge) => ({ status: 200, body: `${challenge}\n` })],
    ['JSON with more in it', (challenge) => ({ status: 201, body: JSON.stringify({ ok: 1, challenge }) })],
  ])('may be answered with %s', async (_, answer) => {
    await using endpoint = await startOwnedEndpoint((challenge, { raw }) => answer(challenge, raw));
    await using stage = await waiting(endpoint);
    await stage.harness.drain(stage.id);
    await stage.harness.drain(stage.id);
    expect(endpoint.callbacks).toHaveLength(3);
  });

  let former = '';
  test.each<[string, (challenge: string, raw: string) => OwnerAnswer, RegExp]>([
    ['that sends back every body', (_, raw) => ({ status: 200, body: raw }), /neither the challenge/],
    ['that says yes to everything', () => ({ status: 200, body: 'ok' }), /neither the challenge/],
    ['without a body', () => ({ status: 204 }), /neither the challenge/],
    [
      'that answers the challenge before',
      (challenge) => {
        const answer = { status: 200, body: former };
        former = challenge;
        return answer;
      },
      /neither the challenge/,
    ],
    ['that fails', (challenge) => ({ status: 500, body: challenge }), /answered 500/],
    [
      'that redirects to the one that would answer',
      () => ({ status: 307, headers: { location: '/owner' } }),
      /answered 307; redirects are not followed/,
    ],
    ['that does not answer in time', () => 'hang', /did not answer in time/],
  ])('is not met by an endpoint %s', async (_, answer, reason) => {
    await using endpoint = await startOwnedEndpoint((challenge, { raw }) => answer(challenge, raw));
    await using stage = await waiting(endpoint, undefined, { timeoutMs: 300 });
    const { harness, id } = stage;
    for (let asked = 1; asked <= 2; asked += 1) {
      const { wakeAt } = await harness.drain(id);
      expect(wakeAt).toBeGreaterThan(Date.now());
      expect((await harness.state(id)).blocked).toMatchObject({
        reason: expect.stringMatching(reason),
        times: asked,
        unverified: true,
      });
      // Its time has come.
      await harness.stores.blocks.set(harness.account, id, await settingsOf(harness, id), {
        ...((await harness.state(id)).blocked ?? never()),
        nextAt: 0,
      });
    }
    expect(endpoint.callbacks).toEqual([]);
    expect(endpoint.questions).toHaveLength(2);
    expect(await stateOf(harness, id)).toBe('unverified');
    endpoint.answer = owner;
    await harness.drain(id);
    await harness.drain(id);
    expect(endpoint.callbacks).toHaveLength(3);
  });

  test('is not sent again before its time, whatever wakes the subscription', async () => {
    await using endpoint = await startOwnedEndpoint(() => ({ status: 500 }));
    await using stage = await waiting(endpoint);
    const { wakeAt } = await stage.harness.drain(stage.id);
    await stage.harness.append('d');
    expect(await stage.harness.drain(stage.id)).toEqual({ wakeAt });
    expect(endpoint.questions).toHaveLength(1);
  });

  test('is sent at growing intervals for a day, and then the subscription is disabled', async () => {
    let now = 1_800_000_000_000;
    await using endpoint = await startOwnedEndpoint(() => ({ status: 500 }));
    await using stage = await waiting(endpoint, undefined, { now: () => now });
    const { harness, id } = stage;
    const waits: number[] = [];
    for (let i = 0; i < 11; i += 1) {
      const { wakeAt } = await harness.drain(id);
      waits.push((wakeAt ?? 0) - now);
      now = wakeAt ?? 0;
    }
    expect(waits.slice(0, 3)).toEqual([900, 1800, 3600]);
    expect(waits.slice(-2)).toEqual([270_000, 270_000]);
    now = 1_800_000_000_000 + 24 * 3_600_000;
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(endpoint.questions).toHaveLength(11);
    const state = await harness.state(id);
    expect(state).toMatchObject({
      enabled: false,
      disabledReason: expect.stringMatching(/not verified within/),
    });
    expect(harness.disabled).toEqual([state.disabledReason]);
    const entries = await harness.log.outlineAfter(harness.account, 3, 10);
    expect(entries.map(({ type }) => type)).toEqual(['subscription.disabled']);
    // Enabling it begins anew, and nothing is lost.
    endpoint.answer = owner;
    await harness.change(id, { updatedAt: now }, { enabled: true });
    await harness.drain(id);
    await harness.drain(id);
    expect(filings(endpoint).toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('that is answered with 410 disables the subscription', async () => {
    await using endpoint = await startOwnedEndpoint(() => ({ status: 410 }));
    await using stage = await waiting(endpoint);
    expect(await stage.harness.drain(stage.id)).toEqual({ wakeAt: null });
    expect(stage.harness.disabled).toEqual(['the endpoint answered 410 Gone']);
    expect(await stateOf(stage.harness, stage.id)).toBe('disabled');
  });
});

test('a change of the URL stops the callbacks until the new one is verified', async () => {
  await using endpoint = await startOwnedEndpoint();
  await using stage = await waiting(endpoint);
  const { harness, id } = stage;
  await harness.drain(id);
  endpoint.answer = () => ({ status: 500 });
  await harness.change(id, { url: `${endpoint.origin}/elsewhere`, verified: null, updatedAt: Date.now() });
  await harness.append('d');
  await harness.drain(id);
  expect(endpoint.callbacks).toHaveLength(3);
  expect(endpoint.questions.map(({ url }) => url)).toEqual(['/callbacks?key=1', '/elsewhere']);
});

test('an answer counts for the URL that was asked only', async () => {
  await using endpoint = await startOwnedEndpoint();
  await using stage = await waiting(endpoint);
  const { harness, id } = stage;
  endpoint.answer = async (challenge) => {
    await harness.change(id, { url: `${endpoint.origin}/elsewhere`, verified: null });
    endpoint.answer = () => ({ status: 500 });
    return owner(challenge);
  };
  await harness.drain(id);
  const record = await harness.subscriptions.get(harness.account, id);
  expect(record?.subscription).toMatchObject({ url: `${endpoint.origin}/elsewhere`, verified: null });
});

test('registering is no scanner: an account asks a number of endpoints a minute', async () => {
  await using endpoint = await startOwnedEndpoint(() => ({ status: 500 }));
  await using harness = await createHarness(scanned);
  const count = questionsMax.perAccount + 5;
  const ids = await Promise.all(
    Array.from({ length: count }, () =>
      harness.subscribe(endpoint.url, { verification: 'challenge', verified: null }),
    ),
  );
  const startedAt = Date.now();
  const { wakeAt } = await harness.drain();
  expect(endpoint.questions).toHaveLength(questionsMax.perAccount);
  expect(wakeAt).toBeGreaterThan(startedAt);
  const states = await Promise.all(ids.map((id) => harness.state(id)));
  expect(states.filter(({ blocked }) => blocked?.times === 0)).toHaveLength(5);
});

test('an account that has asked all that it may at a host keeps no other from asking there', async () => {
  await using endpoint = await startOwnedEndpoint(() => ({ status: 500 }));
  const unverified = { verification: 'challenge', verified: null } as const;
  await using many = await createHarness(shared);
  await Promise.all(
    Array.from({ length: questionsMax.perAccount }, () => many.subscribe(endpoint.url, unverified)),
  );
  await many.drain();
  endpoint.answer = owner;
  await using other = await createHarness(shared);
  const id = await other.subscribe(endpoint.url, unverified);
  await other.drain(id);
  expect(await stateOf(other, id)).toBe('active');
});

test('a lost wake-up is made up: the next poll finds who has yet to be verified', async () => {
  await using endpoint = await startOwnedEndpoint();
  await using harness = await createHarness(woken);
  const id = await harness.subscribe(endpoint.url, { verification: 'challenge', verified: null });
  harness.startWorker();
  await harness.waker.wakeIfDue(harness.account);
  await vi.waitFor(async () => expect(await stateOf(harness, id)).toBe('active'), 5_000);
  expect(endpoint.questions).toHaveLength(1);
});

async function settingsOf(harness: Harness, id: string): Promise<string> {
  return (await harness.stores.blocks.settings(harness.account, id)) ?? '';
}

function never(): never {
  throw new Error('there is no block');
}
