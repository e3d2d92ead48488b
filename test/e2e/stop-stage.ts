import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import type { DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';
import { startReceiver, receiverSecret, type Receiver } from '../support/receivers/receiver.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

/** What daemons that are to end work with: a Redis of their own, a partner service and a receiver. */
export interface StopStage {
  readonly redis: PrivateRedis;
  readonly sandbox: TestSandbox;
  readonly receiver: Receiver;
  /** For `startDaemonProcess`. */
  readonly environment: Readonly<Record<string, string>>;
}

export const subscriptions = '/v1/accounts/default/subscriptions';

/** Sets the stage before the tests of a file and clears it after them. */
export function setStopStage(): StopStage {
  const parts: { set?: StopStage } = {};
  const stage = (): StopStage => {
    if (parts.set === undefined) throw new Error('the stage is not set before the tests begin');
    return parts.set;
  };

  beforeAll(async () => {
    const redis = await startPrivateRedis();
    const sandbox = await startSandbox();
    await sandbox.seed(5);
    const environment = {
      REDIS_URL: redis.url,
      PARTNER_BASE_URL: sandbox.baseUrl,
      PARTNER_KEY: 'sandbox-key',
      PARTNER_MAX_RPS: '1000',
    };
    parts.set = { redis, sandbox, receiver: await startReceiver(), environment };
  });

  afterEach(() => stage().receiver.answer(200));

  afterAll(async () => {
    await stage().receiver[Symbol.asyncDispose]();
    await stage().sandbox[Symbol.asyncDispose]();
    await stage().redis.close();
  });

  return {
    get redis() {
      return stage().redis;
    },
    get sandbox() {
      return stage().sandbox;
    },
    get receiver() {
      return stage().receiver;
    },
    get environment() {
      return stage().environment;
    },
  };
}

/** Lines of the daemon's log under this name. */
export function lines(daemon: DaemonProcess, name: string): Record<string, unknown>[] {
  return daemon.logs.filter(({ msg }) => msg === name);
}

/** Parts of the daemon that did not end in time. */
export function leftBehind(daemon: DaemonProcess): unknown[] {
  return lines(daemon, 'daemon.part_left').map(({ part }) => part);
}

export async function isLogged(daemon: DaemonProcess, name: string): Promise<void> {
  await vi.waitFor(() => expect(lines(daemon, name).length).toBeGreaterThan(0), 20_000);
}

/** Registers a subscription of this receiver and returns its id. */
export async function subscribe(daemon: DaemonProcess, receiver: Receiver): Promise<string> {
  const body = { url: receiver.url, secret: receiverSecret };
  return (await daemon.api.ok<{ id: string }>('POST', subscriptions, body)).id;
}

/** The account has a complete baseline. */
export async function baselined(daemon: DaemonProcess): Promise<void> {
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  }, 20_000);
}
