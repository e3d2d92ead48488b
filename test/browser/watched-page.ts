import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { apiToken } from '../support/daemon/daemon-process.ts';

/** A page of the dashboard that notes whatever a page must never do. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /**
   * Uncaught errors, dialogs, violations of the content security policy and requests to other hosts, in
   * words.
   */
  readonly problems: readonly string[];
  /** Signs in with a token, as the operator unless one is given. */
  signIn(token?: string): Promise<void>;
  /** Goes to a page by its hash, as a link would. */
  show(hash: string): Promise<void>;
  /** Saves a picture in the folder that the variable SCREENSHOTS names; without it there is none. */
  picture(name: string): Promise<void>;
}

/** Opens `/` of a daemon in a profile of its own. */
export async function openWatchedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const problems = watch(page, new URL(url).origin);
  await page.goto(url);
  return {
    page,
    problems,
    async signIn(token = apiToken) {
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
    },
    show: (hash) => page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`),
    async picture(name) {
      const folder = process.env['SCREENSHOTS'];
      if (folder === undefined) return;
      await mkdir(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function watch(page: Page, origin: string): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser reports violations here, whatever they concern.
    if (/content security policy/i.test(message.text())) problems.push(`policy: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: to } = new URL(request.url());
    if (protocol !== 'data:' && to !== origin) problems.push(`request to ${request.url()}`);
  });
  return problems;
}
