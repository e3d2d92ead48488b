import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage(20);
let collector: Collector;

beforeAll(async () => {
  collector = await startCollector();
  await stage.daemon.api.ok('POST', '/v1/accounts/default/subscriptions', {
    url: collector.url,
    secret: collector.secret,
    description: 'Agency system',
  });
  const of = (state: string) => ({ filingState: { stateAbbr: state } });
  await stage.settle('f_done', {
    status: 'COMPLETED',
    insuredsName: 'Done Deal Shipping',
    policyNumber: 'SL-DONE-1',
    ...of('TX'),
  });
  await stage.settle('f_wait', {
    status: 'PENDING',
    insuredsName: 'Waiting Room Inc.',
    policyNumber: 'SL-WAIT-1',
    ...of('FL'),
  });
  await stage.settle('f_sad', {
    status: 'REJECTED',
    insuredsName: 'Sad Trucking Inc.',
    policyNumber: 'SL-SAD-1',
    rejectionReason: 'Affidavit is not signed',
    ...of('TX'),
  });
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

const hashOf = ({ page }: WatchedPage) => page.evaluate<string>('location.hash');

describe('the search on every page', () => {
  test('finds a policy by keyboard, and its filing says who has been told', async () => {
    await using tab = await stage.visit('#/accounts/default/subscriptions');
    await tab.page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    await tab.page.keyboard.press('/');
    await tab.page.keyboard.type('sl-sad-1');
    await tab.page.keyboard.press('Enter');
    const link = tab.page.getByRole('link', { name: 'Sad Trucking Inc.' });
    await link.waitFor();
    expect(await hashOf(tab)).toBe('#/search/sl-sad-1');
    await tab.page.getByText('1 found.').waitFor();
    await link.click();
    const deliveries = tab.page.getByRole('list', { name: 'Deliveries' }).first();
    await expect.poll(() => deliveries.innerText()).toMatch(/Delivered[^]*Agency system/);
    const facts = await tab.page.locator('.facts').first().innerText();
    expect(facts).toMatch(/Filed by\s+\S/);
    await tab.picture('filing');
    expect(tab.problems).toEqual([]);
  });

  test('finds what is completed too, of which the daemon keeps no details', async () => {
    await using tab = await stage.visit('#/search/Done%20Deal');
    await tab.page.getByRole('link', { name: 'Done Deal Shipping' }).waitFor();
    await tab.page.getByRole('row', { name: /SL-DONE-1.*COMPLETED/ }).waitFor();
    await tab.show('#/accounts/default/filings');
    await tab.page
      .getByRole('navigation', { name: 'Status' })
      .getByRole('link', { name: /COMPLETED/ })
      .click();
    await tab.page.getByRole('row', { name: /Done Deal Shipping SL-DONE-1 TX/ }).waitFor();
    await tab.page.getByLabel('Order').selectOption('All, without order');
    await tab.page.getByRole('link', { name: 'f_done' }).waitFor();
    await tab.show('#/search/no-such-thing');
    await tab.page.getByText('No filing matches.').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('looks through all accounts of the operator, and through that of a token alone', async () => {
    const { baseUrl } = stage.sandbox;
    await stage.daemon.api.ok('PUT', '/v1/accounts/other', { baseUrl, partnerKey: 'sandbox-key' });
    const state = async () => {
      const path = '/v1/accounts/other';
      return (await stage.daemon.api.ok<{ health: { state: string } }>('GET', path)).health.state;
    };
    await expect.poll(state, { timeout: 20_000 }).toBe('ok');
    await using tab = await stage.visit('#/search/SL-WAIT-1');
    await tab.page.getByText('2 found in 2 accounts.').waitFor();
    const { token } = await stage.daemon.api.ok<{ token: string }>('POST', '/v1/accounts/other/tokens', {
      name: 'one',
      readOnly: true,
    });
    await using own = await stage.visit('#/search/SL-WAIT-1', token);
    await own.page.getByText('1 found.').waitFor();
    await own.page.getByRole('link', { name: 'Waiting Room Inc.' }).click();
    expect(await hashOf(own)).toBe('#/accounts/other/filing/f_wait');
    expect([tab.problems, own.problems]).toEqual([[], []]);
  });

  test('does not say that nothing matches where it could not look', async () => {
    const refused = { baseUrl: stage.sandbox.baseUrl, partnerKey: 'wrong-key' };
    await stage.daemon.api.ok('PUT', '/v1/accounts/refused', refused);
    await using tab = await stage.visit('#/search/no-such-thing');
    const said = tab.page.getByText(
      /^No filing matches in \d accounts, but 1 of them could not be searched completely\.$/,
    );
    await said.waitFor();
    await tab.page.getByText('The service refuses the account').waitFor();
    await tab.page.route('**/accounts/default/filings?**', async (route) => {
      await route.fulfill({
        json: { items: [], nextCursor: 'x', searched: { service: 'not_needed', detail: null } },
      });
    });
    await tab.show('#/search/late');
    await tab.page.getByText(/but 2 of them could not be searched completely\.$/).waitFor();
    await tab.page.getByRole('link', { name: 'Search on in this account' }).waitFor();
    expect(tab.problems).toEqual([]);
    await stage.daemon.api.ok('DELETE', '/v1/accounts/refused');
  });

  test('is not opened by a slash that is typed into a field; g and r lead to the board', async () => {
    await using tab = await stage.visit('#/accounts/default/filings');
    const field = tab.page.getByRole('searchbox', { name: 'Policy number, insured or id', exact: true });
    await field.fill('');
    await field.press('/');
    expect(await field.inputValue()).toBe('/');
    await tab.page.getByRole('heading', { level: 1 }).click();
    await tab.page.keyboard.press('g');
    await tab.page.keyboard.press('r');
    await tab.page.getByRole('heading', { name: 'Rejections', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('keys are no shortcuts once they are turned off, also after a reload', async () => {
    await using tab = await stage.visit('#/accounts/default/filings');
    const { page } = tab;
    await page.getByRole('heading', { name: 'Filings', level: 1 }).waitFor();
    await page.getByRole('checkbox', { name: /^Keys: / }).uncheck();
    await page.reload();
    await page.getByRole('heading', { name: 'Filings', level: 1 }).click();
    for (const key of ['/', 'g', 'r']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.localName')).toBe('h1');
    expect(await hashOf(tab)).toBe('#/accounts/default/filings');
    await page.getByRole('checkbox', { name: /^Keys: / }).check();
    await page.getByRole('heading', { name: 'Filings', level: 1 }).click();
    for (const key of ['g', 'r']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Rejections', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

describe('filters', () => {
  test('of filings are asked of the daemon and stay in the address, newest first', async () => {
    await using tab = await stage.visit('#/accounts/default/filings');
    const rows = tab.page.getByRole('table', { name: 'Filings' }).getByRole('row');
    await expect.poll(() => rows.nth(1).innerText()).toContain('Sad Trucking Inc.');
    await expect.poll(() => rows.nth(2).innerText()).toContain('Waiting Room Inc.');
    await tab.page.getByLabel('State').fill('tx');
    await expect.poll(() => hashOf(tab)).toBe('#/accounts/default/filings?state=TX');
    await expect.poll(() => rows.filter({ hasText: 'Waiting Room' }).count()).toBe(0);
    await tab.page
      .getByRole('navigation', { name: 'Status' })
      .getByRole('link', { name: /^REJECTED/ })
      .click();
    await expect.poll(() => hashOf(tab)).toBe('#/accounts/default/filings?status=REJECTED&state=TX');
    await rows.filter({ hasText: /Sad Trucking.*Affidavit is not signed/ }).waitFor();
    await tab.page.reload();
    await rows.filter({ hasText: /Sad Trucking.*Affidavit is not signed/ }).waitFor();
    expect(await tab.page.getByLabel('State').inputValue()).toBe('TX');
    expect(tab.problems).toEqual([]);
  });

  test('that were just typed are kept when a link is followed before they have had an effect', async () => {
    await using tab = await stage.visit('#/accounts/default/filings?status=PENDING');
    await tab.page.getByRole('table', { name: 'Filings' }).getByText('Waiting Room Inc.').waitFor();
    // No pause in typing ends before the click.
    await tab.page.clock.install();
    await tab.page.clock.pauseAt(Date.now() + 1000);
    await tab.page.getByLabel('State').pressSequentially('tx');
    await tab.page
      .getByRole('navigation', { name: 'Status' })
      .getByRole('link', { name: /^REJECTED/ })
      .click();
    await expect.poll(() => hashOf(tab)).toBe('#/accounts/default/filings?status=REJECTED&state=TX');
    expect(tab.problems).toEqual([]);
  });

  test('of changes are asked of the daemon and stay in the address', async () => {
    await using tab = await stage.visit('#/accounts/default/changes?filingId=f_wait');
    const entries = tab.page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem');
    await expect.poll(() => entries.count()).toBe(1);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await stage.settle('f_loud', { status: 'PAID', insuredsName: 'Loud Speakers' });
    await stage.settle('f_wait', { status: 'PAID' });
    await expect.poll(() => entries.count()).toBe(2);
    expect(await entries.filter({ hasText: 'Loud Speakers' }).count()).toBe(0);
    await tab.page.getByLabel('Type').selectOption('filing.paid');
    await expect.poll(() => entries.count()).toBe(1);
    await tab.page.reload();
    await expect.poll(() => entries.count()).toBe(1);
    expect(await hashOf(tab)).toBe('#/accounts/default/changes?filingId=f_wait&types=filing.paid');
    await tab.page.getByRole('button', { name: 'Clear' }).click();
    await entries.filter({ hasText: 'Loud Speakers' }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});
