import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage(60);
let collector: Collector;
let pages: readonly (readonly [name: string, hash: string, sign: string])[];

beforeAll(async () => {
  collector = await startCollector();
  const { api } = stage.daemon;
  const body = { url: collector.url, secret: collector.secret, description: 'Billing' };
  const { id } = await api.ok<{ id: string }>('POST', '/v1/accounts/default/subscriptions', body);
  await api.ok('PUT', '/v1/accounts/refused', { baseUrl: stage.sandbox.baseUrl, partnerKey: 'wrong-key' });
  collector.answer(500);
  await stage.settle('f_seen', {
    status: 'REJECTED',
    rejectionReason: 'Not signed',
    insuredsName: 'Seen Inc.',
    filingState: { stateAbbr: 'ZZ' },
  });
  await stage.settle('f_odd', { status: 'AWAITING_DOCUMENTS_FROM_THE_CARRIER_AND_THE_AGENT' });
  const token = { name: 'The claims desk of the agency in Dallas', expiresAt: '2031-12-26T20:58:15.000Z' };
  await api.ok('POST', '/v1/accounts/default/tokens', token);
  await api.ok('PATCH', '/v1/accounts/default', { due: { ZZ: 'P45D' } });
  pages = [
    ['accounts', '#/', '[aria-label="Accounts"] .notice'],
    ['account', '#/accounts/default', '.trend'],
    ['changes', '#/accounts/default/changes', '.feed li'],
    ['filings', '#/accounts/default/filings?status=COMPLETED&order=any', '[aria-label="Filings"] a'],
    ['found', '#/accounts/default/filings?q=seen&state=tx', '[role="search"]'],
    ['search', '#/search/seen', '[aria-label="Filings of default"] a'],
    ['unknown', '#/accounts/refused', '.counts.unknown'],
    ['rejections', '#/rejections', '[aria-label="Rejected filings"] .age'],
    ['board', '#/rejections?account=default', '[aria-label="Rejected filings"] .age'],
    ['filing', '#/accounts/default/filing/f_seen', '.timeline li'],
    ['odd', '#/accounts/default/filing/f_odd', '.timeline li'],
    ['tokens', '#/accounts/default/tokens', '[aria-label="Tokens"] time'],
    ['subscriptions', '#/accounts/default/subscriptions', '[aria-label="Subscriptions"] a'],
    ['subscription', `#/accounts/default/subscriptions/${id}`, '[aria-label^="Dead letters"]'],
    ['nowhere', '#/nowhere', 'h1'],
  ];
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

// The page must not have to be moved sideways in any width of the window, the present one among them.
async function expectToFit({ page }: WatchedPage, name: string): Promise<void> {
  const size = page.viewportSize() ?? { width: 0, height: 0 };
  for (const width of [320, 700, 970, size.width]) {
    await page.setViewportSize({ ...size, width });
    const fits = `innerWidth === ${width} && document.documentElement.scrollWidth <= document.documentElement.clientWidth`;
    // Tables find out about their room some frames later.
    await expect.poll(() => page.evaluate(fits), { message: `${name} at ${width}` }).toBe(true);
  }
}

const looks = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { colorScheme: 'light', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
] as const;

describe.each(looks)('in the look "%s"', (look, options) => {
  test('axe finds nothing on any page, and none is wider than the screen', async () => {
    await using tab = await stage.open(options);
    await expectAccessible(tab);
    await tab.picture(`${look}-sign-in`);
    await tab.signIn();
    for (const [name, hash, sign] of pages) {
      await tab.show(hash);
      await tab.page.locator(sign).first().waitFor();
      await expectAccessible(tab);
      await tab.picture(`${look}-${name}`);
      await expectToFit(tab, name);
    }
    for (const dialog of ['Replay', 'Rotate the secret']) {
      await tab.show(pages.at(-2)?.[1] ?? '');
      await tab.page.getByRole('button', { name: dialog }).click();
      await tab.page.getByRole('dialog', { name: dialog }).waitFor();
      await expectAccessible(tab);
      await tab.picture(`${look}-${dialog.split(' ')[0]?.toLowerCase()}`);
      await tab.page.keyboard.press('Escape');
    }
    expect(tab.problems).toEqual([]);
  });
});

describe('with the keyboard alone', () => {
  test('one signs in, skips to the content, and follows a link whose page then has the focus', async () => {
    await using tab = await stage.open();
    await expect.poll(() => tab.page.evaluate('document.activeElement.id')).toBe('token');
    await tab.page.keyboard.type('token-of-the-operator-in-tests');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await tab.page.keyboard.press('Tab');
    const focused = () => tab.page.evaluate('document.activeElement.textContent.trim()');
    await tab.page.getByRole('link', { name: 'Skip to the content' }).focus();
    await tab.page.keyboard.press('Enter');
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('main');
    await tab.page.getByRole('link', { name: 'default' }).waitFor();
    for (let presses = 0; presses < 12 && (await focused()) !== 'default'; presses += 1)
      await tab.page.keyboard.press('Tab');
    expect(await focused()).toBe('default');
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => tab.page.title()).toBe('default · filing-webhooks');
    expect(await focused()).toBe('default');
    expect(await tab.page.evaluate('document.activeElement.tagName')).toBe('H1');
  });

  test('a dialog keeps the focus inside, closes with Escape and gives the focus back', async () => {
    await using tab = await stage.visit(pages.at(-2)?.[1] ?? '');
    const opener = tab.page.getByRole('button', { name: 'Rotate the secret' });
    await opener.press('Enter');
    await tab.page.getByRole('dialog').waitFor();
    for (let presses = 0; presses < 3; presses += 1) {
      await tab.page.keyboard.press('Tab');
      expect(
        await tab.page.evaluate(
          'document.activeElement.closest("dialog") !== null || document.activeElement === document.body',
        ),
      ).toBe(true);
    }
    await tab.page.keyboard.press('Escape');
    expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Rotate the secret …');
  });
});
