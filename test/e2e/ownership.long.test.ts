import { afterAll, expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';
import { owner, startOwnedEndpoint, type Arrived } from '../support/receivers/owned-endpoint.ts';
import { createLatch } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** The sequences of each filing in the order of their arrival. */
function sequencesOf(callbacks: readonly Arrived[]): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const { raw } of callbacks) {
    const { filingId, sequence } = (JSON.parse(raw) as { data: { filingId: string; sequence: number } }).data;
    (found[filingId] ??= []).push(sequence);
  }
  return found;
}

test('a daemon that is killed between the registration and the answer asks again, and not one callback goes out before', async () => {
  await using stage = await startStage(redis, 3, { ROLES: 'api,poll' });
  const deliver = { ...stage.environment, ROLES: 'deliver' };
  await using first = await startDaemonProcess(deliver);
  const hanging = createLatch<string>();
  await using endpoint = await startOwnedEndpoint((challenge) => {
    hanging.open(challenge);
    return 'hang';
  });
  const path = await stage.subscribe(endpoint.url, { verification: 'challenge' });
  await hanging.opened;
  for (const lag of [3, 6]) {
    await stage.move();
    await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ lag }), 10_000);
  }
  await first.end('SIGKILL');
  expect(endpoint.callbacks).toEqual([]);

  endpoint.answer = () => ({ status: 200, body: 'another text' });
  await using _ = await startDaemonProcess(deliver);
  await stage.move();
  await vi.waitFor(async () => {
    const shown = await stage.daemon.api.ok('GET', path);
    expect(shown).toMatchObject({
      state: 'unverified',
      lag: 9,
      verified: null,
      lastError: expect.stringMatching(/neither the challenge/) as string,
    });
  }, 20_000);
  expect(endpoint.callbacks).toEqual([]);

  endpoint.answer = owner;
  await stage.daemon.api.ok('POST', `${path}/verify`);
  await vi.waitFor(() => expect(endpoint.callbacks).toHaveLength(9), 10_000);
  expect(sequencesOf(endpoint.callbacks)).toEqual({ f0: [1, 2, 3], f1: [1, 2, 3], f2: [1, 2, 3] });
  expect(await stage.daemon.api.ok('GET', path)).toMatchObject({
    state: 'active',
    verified: { method: 'challenge' },
  });

  const asked = endpoint.questions.length;
  endpoint.answer = () => ({ status: 404 });
  await stage.daemon.api.ok('PATCH', path, { url: `${endpoint.origin}/elsewhere` });
  await stage.move();
  await vi.waitFor(() => expect(endpoint.questions.length).toBeGreaterThan(asked), 10_000);
  expect(endpoint.callbacks.filter(({ url }) => url === '/elsewhere')).toEqual([]);
});
