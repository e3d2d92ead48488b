import { describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage();
const allClear = 'Nothing is rejected. Nobody has to do anything.';

async function health(account: string): Promise<string> {
  const { health: found } = await stage.daemon.api.ok<{ health: { state: string } }>(
    'GET',
    `/v1/accounts/${account}`,
  );
  return found.state;
}

describe('what is not known', () => {
  test('an account that was never read has no counts, no line and no all-clear', async () => {
    await stage.daemon.api.ok('PUT', '/v1/accounts/refused', {
      baseUrl: stage.sandbox.baseUrl,
      partnerKey: 'wrong-key',
    });
    await using tab = await stage.visit('#/accounts/refused');
    const counts = tab.page.getByRole('list', { name: 'Filings by status' });
    await expect.poll(() => counts.innerText()).toMatch(/not known yet/);
    expect(await counts.innerText()).not.toContain('0');
    const { counts: known } = await stage.daemon.api.ok<{ counts: object }>('GET', '/v1/accounts/refused');
    expect(new Set(Object.values(known))).toEqual(new Set([null]));
    await tab.page.getByText('Not known yet: the filings of this account were never read').waitFor();
    await tab.page.getByText('Not known yet: the filings were never read as a whole.').waitFor();
    expect(await tab.page.getByText(allClear).count()).toBe(0);
    expect(await tab.page.locator('.trend').count()).toBe(0);
    await tab.show('#/rejections');
    await tab.page.getByText('there may be rejections that are not shown').waitFor();
    await tab.page.getByText('No rejection is known. Not every account is current').waitFor();
    await tab.show('#/rejections?account=default');
    await tab.page.getByText(allClear).waitFor();
    expect(await tab.page.getByText('By reason').count()).toBe(0);
    expect(tab.problems).toEqual([]);
    await stage.daemon.api.ok('DELETE', '/v1/accounts/refused');
  });

  test('nothing is rejected only while the account is ok; later it is as of the last complete poll', async () => {
    await using tab = await stage.visit('#/accounts/default');
    await tab.page.getByText(allClear).waitFor();
    expect(await tab.page.getByText('as of').count()).toBe(0);
    const { baseUrl } = stage.sandbox;
    await stage.daemon.api.ok('PUT', '/v1/accounts/default', { baseUrl, partnerKey: 'wrong-key' });
    await expect.poll(() => health('default'), { timeout: 20_000 }).toBe('auth_failed');
    await tab.page.getByText(/^as of \d\d:\d\d:\d\d, /).waitFor();
    await tab.page.getByText('None was rejected at the last complete poll.').waitFor();
    expect(await tab.page.getByText(allClear).count()).toBe(0);
    await tab.show('#/rejections');
    await tab.page.getByText('No rejection is known. Not every account is current').waitFor();
    await stage.daemon.api.ok('PUT', '/v1/accounts/default', { baseUrl, partnerKey: 'sandbox-key' });
    await tab.page.getByText(allClear).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('without the daemon the page is grey, and one banner says so; it recovers by itself', async () => {
    await using tab = await stage.visit('#/accounts/default');
    await tab.page.getByText(allClear).waitFor();
    await stage.restartDaemon(async () => {
      await tab.page.getByText('What you see may be out of date').waitFor();
      await tab.page.getByText('The daemon does not answer.').waitFor();
      await tab.page.locator('main.gone').waitFor();
      await expect.poll(() => tab.page.getByRole('alert').count()).toBe(1);
      expect(await tab.page.getByText(allClear).count()).toBe(0);
      await tab.picture('gone');
      // Its file was never loaded.
      await tab.page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
      await tab.page.getByText('Could not load this page.').waitFor();
    });
    await tab.page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    await tab.show('#/accounts/default');
    await tab.page.getByText('What you see may be out of date').waitFor({ state: 'detached' });
    await tab.page.getByText(allClear).waitFor();
    expect(await tab.page.locator('main.gone').count()).toBe(0);
    expect(tab.problems).toEqual([]);
  });
});
