import { setTimeout as sleep } from 'node:timers/promises';
import { newSubscription } from '../support/delivery-rig.ts';
import type { Stage } from './stage.ts';

/** An interval so short that polls are most of what a daemon does. */
export const quickPollMs = 1_000;

const atOnce = 50;

interface NewAccounts {
  readonly from: number;
  readonly to: number;
  readonly baseUrl: string;
  readonly pollIntervalMs: number;
}

/** Name of the account with that number. */
export function accountName(number: number): string {
  return `account-${String(number).padStart(6, '0')}`;
}

/** Adds accounts through the account store and schedules them, without the API. */
export async function addAccounts(
  stage: Stage,
  { from, to, baseUrl, pollIntervalMs }: NewAccounts,
): Promise<void> {
  const { stores, pollQueue } = stage.parts;
  await inTurns(from, to, async (i) => {
    const account = accountName(i);
    const settings = { baseUrl, partnerKey: `k-${account}`, pollIntervalMs, sweepIntervalMs: null };
    await stores.accounts.put(account, settings, Date.now());
    await pollQueue.schedule(account, pollIntervalMs);
  });
}

/** Resolves when the accounts with these numbers have a baseline. */
export async function untilBaselined(stage: Stage, to: number, from = 0): Promise<void> {
  const { polling } = stage.parts.stores;
  for (let i = from; i < to;) {
    // oxlint-disable no-await-in-loop
    if ((await polling.read(accountName(i))).baselined) i += 1;
    else await sleep(100);
    // oxlint-enable no-await-in-loop
  }
}

/**
 * Registers subscriptions, each of an account and with a URL that `at` returns for its number; `matching`
 * false: for an event type that no benchmark appends. Returns their ids, in no order.
 */
export async function addSubscriptions(
  stage: Stage,
  from: number,
  to: number,
  at: (number: number) => { readonly account: string; readonly url: string; readonly matching: boolean },
): Promise<string[]> {
  const { subscriptions } = stage.parts.stores;
  const ids: string[] = [];
  await inTurns(from, to, async (i) => {
    const { account, url, matching } = at(i);
    const subscription = newSubscription(account, url);
    const eventTypes = matching ? subscription.eventTypes : ['filing.removed'];
    await subscriptions.create({ ...subscription, eventTypes }, null);
    ids.push(subscription.id);
  });
  return ids;
}

/** Calls `one` for each number, fifty at once. */
export async function inTurns(
  from: number,
  to: number,
  one: (number: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const worker = async () => {
    while (next < to) {
      const number = next;
      next += 1;
      await one(number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
