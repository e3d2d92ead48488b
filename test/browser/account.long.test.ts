import { beforeAll, describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage(30);

beforeAll(async () => {
  const { api } = stage.daemon;
  await api.ok('PUT', '/v1/accounts/refused', { baseUrl: stage.sandbox.baseUrl, partnerKey: 'wrong-key' });
  await stage.settle('f_known', { status: 'PENDING', insuredsName: 'Harbor Bakery LLC' });
});

describe('accounts', () => {
  test('shows those in trouble first, and each with its health, counts, last complete poll and subscriptions', async () => {
    await using tab = await stage.visit('#/');
    const table = tab.page.getByRole('table', { name: 'Accounts' });
    const row = table.getByRole('row', { name: /^default ok/ });
    await row.getByText('0 subscriptions').waitFor();
    expect(await row.innerText()).toMatch(/just now|ago/);
    const names = await table.getByRole('columnheader').allInnerTexts();
    expect(names.slice(0, 3)).toEqual(['Account', 'Health', 'REJECTED']);
    for (const status of ['UNPAID', 'PAID', 'PENDING', 'COMPLETED']) expect(names).toContain(status);
    await table.getByText('auth failed').waitFor();
    expect(await table.getByRole('row').nth(1).innerText()).toContain('refused');
    await tab.page.getByText('1 not current').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('says what to do about an account whose key is refused, and not that it has no filings', async () => {
    await using tab = await stage.visit('#/');
    const row = tab.page.getByRole('row', { name: /^refused auth failed/ });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/not known yet/);
    expect(await row.innerText()).not.toMatch(/\b0\b(?! subscriptions)/);
    await tab.page.getByRole('link', { name: 'Give it a valid key' }).click();
    await expect.poll(() => tab.page.evaluate('location.hash')).toBe('#/accounts/refused/settings');
    expect(tab.problems).toEqual([]);
  });
});

describe('an account', () => {
  test('shows a filing under rejections as soon as it is rejected, and no longer once it is not', async () => {
    await using tab = await stage.visit('#/accounts/default');
    const table = tab.page.getByRole('table', { name: 'Rejected filings' });
    await stage.settle('f_sad', {
      status: 'REJECTED',
      rejectionReason: 'Affidavit is not signed',
      insuredsName: 'Sad Trucking Inc.',
      policyNumber: 'SL-7',
    });
    const row = table.getByRole('row', {
      name: /^\d+ (s|min) Sad Trucking Inc\..*SL-7.*Affidavit is not signed/,
    });
    await row.waitFor();
    await tab.picture('account');
    await stage.settle('f_sad', { status: 'PENDING' });
    await row.waitFor({ state: 'detached' });
    expect(tab.problems).toEqual([]);
  });

  test('draws what the daemon has noted before the page was opened, a line and figures for each status', async () => {
    await using tab = await stage.visit('#/');
    const asked: string[] = [];
    await tab.page.route('**/counts?*', async (route) => {
      asked.push(new URL(route.request().url()).search);
      await route.fulfill({ json: { items: past(90) } });
    });
    await tab.show('#/accounts/default');
    const rows = tab.page.getByRole('table', { name: 'Filings over time' }).getByRole('row');
    const now = /^REJECTED from 200 on .* to \d+ now$/;
    const rejected = rows.filter({ has: tab.page.getByRole('img', { name: now }) });
    await expect.poll(() => rejected.innerText()).toMatch(/^REJECTED\s+(\d+)\s+\1\s+200\s*$/);
    // A count holds until the next one: the line falls at its end.
    expect(await rejected.locator('path').getAttribute('d')).toMatch(/^M[\d.]+ 1\.0H.*H100\.00V23\.0$/);
    // The account is there for less than an hour.
    expect(await tab.page.getByRole('button', { name: 'An hour', pressed: true }).count()).toBe(1);
    await tab.page.getByRole('button', { name: 'A week' }).click();
    await expect.poll(() => asked).toEqual(['?hours=1', '?hours=168']);
    expect(tab.problems).toEqual([]);
  });

  test('says while the past is being read and when it cannot be', async () => {
    await using tab = await stage.visit('#/');
    const held = Promise.withResolvers<void>();
    await tab.page.route('**/counts?*', async (route) => {
      await held.promise;
      await route.abort();
    });
    await tab.show('#/accounts/default');
    await tab.page.getByText('Loading the past').waitFor();
    held.resolve();
    await tab.page.getByText('Could not read the past.').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('polls at once when asked to', async () => {
    await stage.daemon.api.ok('PUT', '/v1/accounts/slow', {
      baseUrl: stage.sandbox.baseUrl,
      partnerKey: 'sandbox-key',
      pollIntervalMs: 3_600_000,
    });
    await using tab = await stage.visit('#/accounts/slow');
    const completed = () =>
      stage.daemon.logs.filter(({ msg, account }) => msg === 'poll.completed' && account === 'slow').length;
    await expect.poll(completed, { timeout: 10_000 }).toBeGreaterThan(0);
    const before = completed();
    await tab.page.getByText('Polling', { exact: true }).click();
    await tab.page.getByRole('button', { name: 'Sweep now' }).click();
    await tab.page.getByText('The sweep is on its way').waitFor();
    await expect.poll(completed, { timeout: 10_000 }).toBe(before + 1);
    await tab.page.getByRole('button', { name: 'Poll now' }).click();
    await tab.page.getByText('The poll is on its way').waitFor();
    await expect.poll(completed, { timeout: 10_000 }).toBe(before + 2);
    expect(tab.problems).toEqual([]);
  });

  test('lists the filings of the status that is chosen', async () => {
    await using tab = await stage.visit('#/accounts/default');
    await tab.page
      .getByRole('list', { name: 'Filings by status' })
      .getByRole('link', { name: /PENDING/ })
      .click();
    await tab.page.getByRole('row', { name: /^\d+ (s|min) Harbor Bakery LLC/ }).waitFor();
    await tab.page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: /^PAID/ }).click();
    await tab.page.getByRole('heading', { name: 'Filings: PAID' }).waitFor();
    expect(await tab.page.getByText('Harbor Bakery LLC').count()).toBe(0);
    expect(tab.problems).toEqual([]);
  });

  test('leads to a filing by its id where the insured is blank', async () => {
    await stage.settle('f_blank', { status: 'REJECTED', insuredsName: '   ' });
    await using tab = await stage.visit('#/accounts/default');
    await tab.page.getByRole('link', { name: 'f_blank' }).click();
    await tab.page.getByRole('heading', { name: 'f_blank', level: 1 }).waitFor();
    await stage.settle('f_blank', { status: 'PENDING' });
    expect(tab.problems).toEqual([]);
  });

  test('says that there is no such account, and what there is instead of an empty table', async () => {
    await using tab = await stage.visit('#/');
    for (const place of ['', 'filings', 'changes', 'subscriptions', 'tokens', 'settings']) {
      await tab.show(`#/accounts/nobody/${place}`);
      const alert = tab.page.getByRole('alert');
      await expect
        .poll(() => alert.allInnerTexts())
        .toEqual([expect.stringContaining('There is no such account.')]);
      await alert.getByRole('link', { name: 'Begin at the start' }).click();
      await tab.page.getByRole('table', { name: 'Accounts' }).waitFor();
    }
    await tab.show('#/accounts/default/filing/f_%2F%3F');
    await tab.page.getByText('No poll of this account has seen').waitFor();
    await tab.show('#/accounts/default/filings?q=never-heard-of');
    await tab.page.getByText('No filing matches.').waitFor();
    await tab.show('#/nowhere');
    await tab.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

// Counts of each of so many minutes before now, as the API gives them.
function past(minutes: number): { at: string; counts: Record<string, number> }[] {
  return Array.from({ length: minutes }, (_, i) => ({
    at: new Date(Date.now() - (minutes - i) * 60_000).toISOString(),
    counts: { UNPAID: 20 + (i % 7), PAID: 50, PENDING: 90, COMPLETED: 9000, REJECTED: 200 },
  }));
}
