import { afterEach, expect, test, vi } from 'vitest';
import { createInstance } from '../../../../src/api/server/create-instance.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a start whose plugins take a minute, because the process is busy, is no failure', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const app = createInstance({});
  const [begun, busy] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const registered = Promise.resolve(
    app.register(async () => {
      begun.resolve();
      await busy.promise;
    }),
  );
  registered.catch(() => undefined);
  await begun.promise;
  await vi.advanceTimersByTimeAsync(60_000);
  busy.resolve();
  expect(await registered.then(() => 'registered')).toBe('registered');
  await app.ready();
  await app.close();
});
