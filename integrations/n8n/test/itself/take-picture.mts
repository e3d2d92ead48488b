import { setTimeout } from 'node:timers/promises';
import { launchChromium } from '../../../../test/support/chromium.ts';
import type { N8n } from './n8n.mts';

/** Takes a picture of a page of n8n's editor, as the owner sees it. */
export async function takePicture(n8n: N8n, path: string, file: string): Promise<void> {
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 640 } });
    await context.addCookies([{ ...n8n.cookie(), url: n8n.url }]);
    const page = await context.newPage();
    await page.goto(n8n.url + path, { waitUntil: 'domcontentloaded', timeout: 120_000 });
    const places = [page, page.frameLocator('iframe')];
    await Promise.any(
      places.map((place) => place.getByText('Write a message').first().waitFor({ timeout: 120_000 })),
    ).finally(() => page.screenshot({ path: file }));
    // n8n opens a list of advice over the list of executions.
    for (const advice of await page.getByText('Production Checklist').all())
      await advice.evaluate((title: { closest(selector: string): { remove(): void } | null }) =>
        title.closest('[role=dialog], [data-reka-popper-content-wrapper]')?.remove(),
      );
    // The canvas fits itself into the window in an animation that no event ends.
    await setTimeout(3000);
    await page.screenshot({ path: file });
  } finally {
    await browser.close();
  }
}
