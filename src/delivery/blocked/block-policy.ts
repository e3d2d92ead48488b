import { isUnreadable, type UnreadableRecordError } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import type { Block, Subscription } from '../../subscriptions/subscription.ts';
import { nextProbeMs, probeDelayMsMax } from '../schedule/endpoint-health.ts';

/** The endpoint of a subscription has yet to be verified: nothing may be sent. */
export class UnverifiedError extends Error {
  override readonly name = 'UnverifiedError';
  /** As they are stored. */
  readonly settings: string;
  readonly subscription: Subscription;

  constructor(settings: string, subscription: Subscription) {
    super('the endpoint is not verified');
    this.settings = settings;
    this.subscription = subscription;
  }
}

/** Settings of a subscription that this process can never use. The message says what the operator can do. */
export class UnusableSettingsError extends Error {
  override readonly name = 'UnusableSettingsError';
  /** As they are stored. */
  readonly settings: string;

  constructor(settings: string, cause: Error) {
    super(cause.message, { cause });
    this.settings = settings;
  }
}

const firstDelayMs = 1_000;

/**
 * Whether stored settings cannot be opened for a lasting reason: a missing key, a newer format, or garbage;
 * pure.
 */
export function isLasting(error: unknown): error is SealError | UnreadableRecordError {
  return error instanceof SealError || isUnreadable(error);
}

/**
 * The block after one more failed drain; pure. The next drain is due after a second, then after twice as long
 * each time, up to five minutes.
 */
export function blockAfter(former: Block | null, reason: string, now: number, random: () => number): Block {
  const times = (former?.times ?? 0) + 1;
  const nextAt = now + nextProbeMs(times, { firstDelayMs, random });
  return { reason, since: former?.since ?? now, times, nextAt };
}

/**
 * Whether a blocked subscription is to be left alone now; pure. A wait longer than the maximum was decided by
 * a clock that was ahead, and does not count.
 */
export function isBlocking(block: Block | null, now: number): boolean {
  return block !== null && now < block.nextAt && block.nextAt <= now + probeDelayMsMax;
}
