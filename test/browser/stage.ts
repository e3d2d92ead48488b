import { afterAll, beforeAll, vi } from 'vitest';
import type { Browser } from 'playwright-core';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis, type TestRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';
import { browserMs, launchChromium } from '../support/chromium.ts';
import { openWatchedPage, type WatchedPage } from './watched-page.ts';

/** A partner service, a daemon that polls it, and a browser, for all tests of a file. */
export interface Stage {
  readonly sandbox: TestSandbox;
  readonly daemon: DaemonProcess;
  /** The Redis of the daemon. */
  readonly redis: TestRedis;
  /** Ends the daemon and starts one in its place: same data, same address. */
  restartDaemon(whileGone: () => Promise<void>): Promise<void>;
  /** A page of a browser profile of its own, empty. */
  open(options?: Parameters<Browser['newContext']>[0]): Promise<WatchedPage>;
  /** A page that is signed in (as the operator unless a token is given) and shows what this hash names. */
  visit(hash: string, token?: string): Promise<WatchedPage>;
  /** Sets a filing and waits until the daemon has seen it so. */
  settle(id: string, fields: { readonly status: string } & Record<string, unknown>): Promise<void>;
}

/**
 * Sets the stage before the tests of the file and clears it after them. The account `default` has a complete
 * baseline then.
 */
export function setStage(filings = 0): Stage {
  const redis = testRedis();
  const parts: Partial<{ sandbox: TestSandbox; daemon: DaemonProcess; browser: Browser }> = {};
  const part = <K extends keyof typeof parts>(name: K): NonNullable<(typeof parts)[K]> => {
    const found = parts[name];
    if (found === undefined || found === null) throw new Error(`${name} is not there before the tests begin`);
    return found;
  };

  async function startDaemon(port = '0'): Promise<void> {
    parts.daemon = await startDaemonProcess({
      PORT: port,
      REDIS_URL: redis.url,
      REDIS_PREFIX: redis.prefix,
      PARTNER_BASE_URL: part('sandbox').baseUrl,
      PARTNER_KEY: 'sandbox-key',
      PARTNER_MAX_RPS: '1000',
    });
  }

  beforeAll(async () => {
    parts.browser = await launchChromium();
    parts.sandbox = await startSandbox();
    if (filings > 0) await parts.sandbox.seed(filings);
    await startDaemon();
    await untilOk(part('daemon'));
  }, browserMs);

  afterAll(async () => {
    await parts.browser?.close();
    await parts.daemon?.[Symbol.asyncDispose]();
    await parts.sandbox?.[Symbol.asyncDispose]();
    await redis.cleanup();
  });

  const open: Stage['open'] = (options) => openWatchedPage(part('browser'), part('daemon').url, options);
  return {
    get sandbox() {
      return part('sandbox');
    },
    get daemon() {
      return part('daemon');
    },
    redis,
    open,
    async restartDaemon(whileGone) {
      const { port } = new URL(part('daemon').url);
      await part('daemon').end('SIGTERM');
      await whileGone();
      await startDaemon(port);
    },
    async visit(hash, token) {
      const page = await open();
      await page.signIn(token);
      await page.show(hash);
      // The pointer lies where it has signed in: rows under it do not move.
      await page.page.mouse.move(0, 0);
      return page;
    },
    async settle(id, fields) {
      await part('sandbox').set(encodeURIComponent(id), fields);
      await vi.waitFor(async () => {
        const path = `/v1/accounts/default/filings/${encodeURIComponent(id)}`;
        const { status } = await part('daemon').api.ok('GET', path);
        if (status !== fields.status) throw new Error(`${id} is ${String(status)}`);
      }, 10_000);
    },
  };
}

async function untilOk({ api }: DaemonProcess): Promise<void> {
  await vi.waitFor(async () => {
    const { health } = await api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    if (health.state !== 'ok') throw new Error(`the account is ${health.state}`);
  }, 20_000);
}
