import { describe, expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const path = '/v1/accounts/default/tokens';
const hash = '#/accounts/default/tokens';

async function names(): Promise<string[]> {
  const { items } = await stage.daemon.api.ok<{ items: { name: string }[] }>('GET', path);
  return items.map(({ name }) => name);
}

async function make(name: string, token?: string): Promise<string> {
  const body = JSON.stringify({ name, readOnly: false });
  if (token === undefined)
    return (await stage.daemon.api.ok<{ token: string }>('POST', path, { name, readOnly: false })).token;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${stage.daemon.url}${path}`, { method: 'POST', headers, body });
  return ((await response.json()) as { token: string }).token;
}

describe('tokens', () => {
  test('are made with a name, rights and an end; the text is shown once and opens the page', async () => {
    await using tab = await stage.visit(hash);
    const { page } = tab;
    await page.getByText('There is no token yet.').waitFor();
    await page.getByRole('button', { name: 'New token …' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByLabel('Name').fill('The claims desk');
    await dialog.getByLabel('Expires after').selectOption('30 days');
    await tab.picture('new-token');
    await expectAccessible(tab);
    await dialog.getByRole('button', { name: 'Make the token' }).click();
    const text = await dialog.getByLabel('Token', { exact: true }).inputValue();
    expect(text).toMatch(/^fwa_.+\.default$/);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: /The claims desk token read only the operator/ }).waitFor();
    expect(await page.content()).not.toContain(text);
    await tab.picture('tokens');
    await using reader = await stage.visit(hash, text);
    await reader.page.getByRole('row', { name: /The claims desk/ }).waitFor();
    expect(await reader.page.locator('main').getByRole('button').count()).toBe(0);
    expect([...tab.problems, ...reader.problems]).toEqual([]);
  });

  test('for a tool manage only the subscriptions that they make', async () => {
    await using tab = await stage.visit(hash);
    const { page } = tab;
    await page.getByRole('button', { name: 'New token …' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByLabel('Name').fill('The workflows');
    await dialog.getByLabel(/Own subscriptions/).check();
    await dialog.getByRole('button', { name: 'Make the token' }).click();
    const token = await dialog.getByLabel('Token', { exact: true }).inputValue();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: /The workflows token own subscriptions/ }).waitFor();
    const session = await fetch(`${stage.daemon.url}/v1/session`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await session.json()).toMatchObject({ subscriptions: 'own', readOnly: false });
    expect(tab.problems).toEqual([]);
  });

  test('are revoked after a question that names those that end with them', async () => {
    const parent = await make('A parent');
    await make('A child', parent);
    await using tab = await stage.visit(hash);
    const { page } = tab;
    const row = page.getByRole('row', { name: /^A parent/ });
    await row.getByRole('button', { name: 'Revoke …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the token A parent' });
    await dialog.getByText('A child').waitFor();
    await tab.picture('revoke-token');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await names()).not.toContain('A parent');
    expect(await names()).not.toContain('A child');
    expect(tab.problems).toEqual([]);
  });

  test('leave those that they made where one wants to keep them', async () => {
    await make('A kept child', await make('Another parent'));
    await using tab = await stage.open();
    const { page } = tab;
    await page.clock.install();
    await tab.signIn();
    await tab.show(hash);
    const row = page.getByRole('row', { name: /^Another parent/ });
    await row.getByRole('button', { name: 'Revoke …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the token Another parent' });
    await dialog.getByLabel('Keep them').check();
    // The choice outlasts that the list is read again.
    const [read] = await Promise.all([page.waitForResponse('**/tokens?**'), page.clock.runFor(20_000)]);
    await read.finished();
    await page.clock.runFor(1000);
    expect(await dialog.getByLabel('Keep them').isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await names()).toContain('A kept child');
    expect(tab.problems).toEqual([]);
  });
});

test('a link opens this account for one who may only look, until it is revoked', async () => {
  await using tab = await stage.visit(hash);
  const { page } = tab;
  await page.getByRole('button', { name: 'Share a link …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share a link' });
  await dialog.getByLabel('For whom').fill('Agency in Dallas');
  expect(await dialog.getByLabel(/Read only/).isChecked()).toBe(true);
  await dialog.getByRole('button', { name: 'Make the link' }).click();
  const url = await dialog.getByLabel('Link').inputValue();
  await tab.picture('link');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await using guest = await stage.open();
  await guest.page.goto(url);
  await guest.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
  expect(await guest.page.getByRole('button', { name: 'Poll now' }).count()).toBe(0);
  const row = page.getByRole('row', { name: /^Agency in Dallas link read only/ });
  await row.getByRole('button', { name: 'Revoke …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await guest.page.reload();
  await guest.page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect([...tab.problems, ...guest.problems]).toEqual([]);
});
