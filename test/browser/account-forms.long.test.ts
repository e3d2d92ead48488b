import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';

const stage = setStage();

async function fillNew(page: Page, name: string, key: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Address of the partner service').fill(stage.sandbox.baseUrl);
  await page.getByLabel('Key of the partner service').fill(key);
}

describe('an account', () => {
  test('is made, and the answer says whether the partner service knows the key', async () => {
    await using tab = await stage.visit('#/accounts/new');
    const { page } = tab;
    await fillNew(page, 'new_one', 'sandbox-key');
    await page.getByLabel('PENDING').fill('10');
    await page.getByLabel('Time of day').fill('08:00');
    await page.getByLabel('Time zone').fill('America/Chicago');
    await tab.picture('new-account');
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Saved, and the partner service knows the key.').waitFor();
    await page.getByRole('link', { name: 'Open the account' }).click();
    await page.getByRole('heading', { name: 'new_one', level: 1 }).waitFor();
    const shown = await stage.daemon.api.ok('GET', '/v1/accounts/new_one');
    expect(shown).toMatchObject({ baseUrl: stage.sandbox.baseUrl, stalledAfter: { PENDING: 'P10D' } });
    expect(shown).toMatchObject({ digest: { at: '08:00', zone: 'America/Chicago', days: 'mon-fri' } });
    expect(tab.problems).toEqual([]);
  });

  test('does not take the place of another of the same name', async () => {
    await using tab = await stage.visit('#/accounts/new');
    await fillNew(tab.page, 'default', 'another-key');
    await tab.page.getByRole('button', { name: 'Create account' }).click();
    await tab.page.getByText('"default" is taken by another account').waitFor();
    const { health } = await stage.daemon.api.ok<{ health: { state: string } }>(
      'GET',
      '/v1/accounts/default',
    );
    expect(health.state).toBe('ok');
    expect(tab.problems).toEqual([]);
  });

  test('gets another key, and the page says when it is refused', async () => {
    const body = { baseUrl: stage.sandbox.baseUrl, partnerKey: 'sandbox-key' };
    await stage.daemon.api.ok('PUT', '/v1/accounts/keyed', body);
    await using tab = await stage.visit('#/accounts/keyed/settings');
    const { page } = tab;
    await page.getByLabel('Key of the partner service').fill('wrong-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved, but the partner service does not answer as it should.').waitFor();
    await tab.picture('settings-refused');
    await page.getByLabel('Key of the partner service').fill('sandbox-key');
    await page.getByLabel('Seconds between polls').fill('30');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved, and the partner service knows the key.').waitFor();
    expect(await stage.daemon.api.ok('GET', '/v1/accounts/keyed')).toMatchObject({ pollIntervalMs: 30_000 });
    expect(tab.problems).toEqual([]);
  });

  test('is deleted once its name was typed', async () => {
    const body = { baseUrl: stage.sandbox.baseUrl, partnerKey: 'sandbox-key' };
    await stage.daemon.api.ok('PUT', '/v1/accounts/ends.here', body);
    await using tab = await stage.visit('#/accounts/ends.here/settings');
    const { page } = tab;
    await page.getByRole('button', { name: 'Delete the account …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the account ends.here' });
    await dialog.getByLabel(/^Type/).fill('endsXhere');
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    expect(await dialog.locator('input:invalid').count()).toBe(1);
    await stage.daemon.api.ok('GET', '/v1/accounts/ends.here');
    await tab.picture('delete-account');
    await dialog.getByLabel(/^Type/).fill('ends.here');
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    await expect
      .poll(async () => (await stage.daemon.api.call('GET', '/v1/accounts/ends.here')).status)
      .toBe(404);
    expect(tab.problems).toEqual([]);
  });
});
