import { expect, test } from 'vitest';
import { gatherWakeUps } from '../../../src/delivery/gather-wake-ups.ts';
import type { Matchable } from '../../../src/subscriptions/matches-event.ts';

const disabled: Matchable = { type: 'subscription.disabled', state: '', status: '' };
const pendingIn = (state: string): Matchable => ({ type: 'filing.pending', state, status: 'PENDING' });

/** A wake-up that ends when the test says so. */
interface HeldCall {
  readonly account: string;
  readonly events: readonly Matchable[];
  readonly end: (error?: Error) => void;
}

function holdCalls() {
  const calls: HeldCall[] = [];
  const began: PromiseWithResolvers<void>[] = [];
  const beginning = (number: number) => (began[number] ??= Promise.withResolvers<void>());
  const wake = gatherWakeUps(async (account, events) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.push({ account, events, end: (error) => (error === undefined ? resolve() : reject(error)) });
    beginning(calls.length).resolve();
    return promise;
  });
  /** The call of this number, from 1, once it has begun. */
  const call = async (number: number): Promise<HeldCall> => {
    await beginning(number).promise;
    const held = calls[number - 1];
    if (held === undefined) throw new Error(`no call ${number}`);
    return held;
  };
  return { wake, calls, call };
}

test('the first wake-up is carried out at once, those that come meanwhile by one call together', async () => {
  const { wake, calls, call } = holdCalls();
  const first = wake('acme', [disabled]);
  expect(calls).toHaveLength(1);

  const others = Array.from({ length: 10_000 }, () => wake('acme', [disabled]));
  others.push(wake('acme', [pendingIn('TX'), pendingIn('CA')]), wake('acme', [pendingIn('TX')]));
  calls[0]?.end();
  await first;
  const second = await call(2);
  expect(second.events).toEqual([disabled, pendingIn('TX'), pendingIn('CA')]);

  second.end();
  await Promise.all(others);
  expect(calls).toHaveLength(2);
});

test('a wake-up that comes while the gathered ones are carried out waits for a call of its own', async () => {
  const { wake, calls, call } = holdCalls();
  const first = wake('acme', [disabled]);
  const second = wake('acme', [pendingIn('TX')]);
  calls[0]?.end();
  await call(2);
  const third = wake('acme', [pendingIn('CA')]);
  (await call(2)).end();
  await Promise.all([first, second]);
  expect((await call(3)).events).toEqual([pendingIn('CA')]);
  (await call(3)).end();
  await third;
});

test('wake-ups are refused with the call that stands for them, and those after it are carried out', async () => {
  const { wake, calls, call } = holdCalls();
  const first = wake('acme', [disabled]);
  const second = wake('acme', [disabled]);
  calls[0]?.end(new Error('Redis is away'));
  await expect(first).rejects.toThrow('Redis is away');
  const alsoSecond = wake('acme', [disabled]);
  (await call(2)).end(new Error('still away'));
  await expect(second).rejects.toThrow('still away');
  await expect(alsoSecond).rejects.toThrow('still away');
  const third = wake('acme', [disabled]);
  (await call(3)).end();
  await third;
});

test('accounts do not wait for each other', () => {
  const { wake, calls } = holdCalls();
  void wake('acme', [disabled]);
  void wake('other', [disabled]);
  expect(calls.map(({ account }) => account)).toEqual(['acme', 'other']);
});
