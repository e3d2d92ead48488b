import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { apiToken, startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { median, percentile, print } from './support/statistics.ts';

const filings = 1_000;
const visits = 10;

/** What one visit with an empty cache cost. */
interface Visit {
  /** Transferred, heads and compression included, until the account was shown. */
  readonly bytes: number;
  readonly requests: number;
  /** From the address to a form that takes the token, in milliseconds. */
  readonly formMs: number;
  /** From the click on "Sign in" to the account with its counts and rejections. */
  readonly accountMs: number;
}

/**
 * The dashboard on loopback with empty caches: bytes transferred, time to a form that takes the token, and
 * from there to the account.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using sandbox = await startSandbox();
  await sandbox.seed(filings);
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    POLL_INTERVAL_MS: '15000',
    PARTNER_MAX_RPS: '1000',
  });
  const browser = await launchChromium();
  try {
    const found: Visit[] = [];
    // One after the other: they would disturb each other.
    for (let i = 0; i <= visits; i += 1) found.push(await visit(browser, daemon.url));
    // The first one warms up the browser and the daemon.
    report(found.slice(1));
  } finally {
    await browser.close();
  }
}

function report(found: readonly Visit[]): void {
  const form = found.map(({ formMs }) => formMs);
  const account = found.map(({ accountMs }) => accountMs);
  print(`${found.length} visits, ${filings} filings`, {
    kB: median(found.map(({ bytes }) => bytes)) / 1000,
    requests: median(found.map(({ requests }) => requests)),
    'form p50 ms': median(form),
    'worst ms': percentile(form, 1),
    'account p50 ms': median(account),
    'worst account ms': percentile(account, 1),
  });
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const traffic = await countTraffic(page);
    const openedAt = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await page.getByLabel('Token').fill(apiToken);
    const formMs = performance.now() - openedAt;
    const signedInAt = performance.now();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'default' }).first().click();
    await page.getByRole('heading', { name: 'Filings over time' }).waitFor();
    await page.getByRole('table').first().waitFor();
    return { ...traffic, formMs, accountMs: performance.now() - signedInAt };
  } finally {
    await context.close();
  }
}

async function countTraffic(page: Page): Promise<{ readonly bytes: number; readonly requests: number }> {
  const traffic = { bytes: 0, requests: 0 };
  const session = await page.context().newCDPSession(page);
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    traffic.bytes += encodedDataLength;
    traffic.requests += 1;
  });
  await session.send('Network.enable');
  return traffic;
}
