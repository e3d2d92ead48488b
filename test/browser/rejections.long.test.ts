import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { startCollector } from '../support/receivers/collector.ts';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage();

beforeAll(async () => {
  for (const [id, reason, state] of [
    ['f_first', 'Affidavit is not signed', 'TX'],
    ['f_second', 'Premium differs', 'FL'],
    ['f_third', 'Affidavit is not signed', 'FL'],
  ] as const) {
    await stage.settle(id, {
      status: 'REJECTED',
      rejectionReason: reason,
      insuredsName: `Insured of ${id}`,
      policyNumber: `SL-${id}`,
      filingState: { stateAbbr: state },
    });
  }
});

function rows({ page }: WatchedPage) {
  return page.getByRole('table', { name: 'Rejected filings' }).getByRole('row');
}

async function insureds(tab: WatchedPage): Promise<string[]> {
  const texts = await rows(tab)
    .getByRole('link', { name: /^Insured of/ })
    .allInnerTexts();
  return texts.map((text) => text.replace('Insured of ', ''));
}

describe('the board of rejections', () => {
  test('counts all, the oldest first, and groups them by reason and state, in the address', async () => {
    await using tab = await stage.visit('#/accounts/default');
    await tab.page
      .getByRole('list', { name: 'Filings by status' })
      .getByRole('link', { name: '3 REJECTED' })
      .click();
    await expect.poll(() => insureds(tab)).toEqual(['f_first', 'f_second', 'f_third']);
    await tab.page.getByRole('heading', { name: 'Rejections', level: 1 }).waitFor();
    expect(await tab.page.locator('.total').innerText()).toBe('3');
    await tab.page.getByRole('button', { name: 'Newest first' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_second', 'f_first']);
    await tab.page.getByRole('button', { name: '2 Affidavit is not signed' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_first']);
    await tab.page.getByRole('button', { name: '1 TX' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_first']);
    await tab.page.reload();
    await expect.poll(() => insureds(tab)).toEqual(['f_first']);
    await tab.page.getByRole('button', { name: '1 TX' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_first']);
    await tab.page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_second', 'f_first']);
    await tab.picture('rejections');
    await tab.page.getByRole('link', { name: 'Skip to the list' }).press('Enter');
    await tab.page.keyboard.press('Tab');
    expect(await tab.page.evaluate('document.activeElement.ariaLabel')).toBe('Choose Insured of f_third');
    expect(tab.problems).toEqual([]);
  });

  test('on a phone reasons and states are folded, and the tabs of an account are one row', async () => {
    await using tab = await stage.open({ viewport: { width: 390, height: 844 }, isMobile: true });
    await tab.signIn();
    await tab.show('#/rejections');
    const reason = tab.page.getByRole('button', { name: '2 Affidavit is not signed' });
    await tab.page.getByText('By reason').waitFor();
    expect(await reason.isVisible()).toBe(false);
    await tab.page.getByText('By reason').click();
    await reason.waitFor();
    await tab.show('#/accounts/default/settings');
    await tab.page.getByRole('heading', { name: 'Settings' }).waitFor();
    const tabs = tab.page.getByRole('navigation', { name: 'Account' });
    const boxes = await Promise.all((await tabs.getByRole('link').all()).map((link) => link.boundingBox()));
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    const { x = 390, width = 0 } = boxes.at(-1) ?? {};
    expect(x + width, 'the present one is in sight').toBeLessThanOrEqual(390);
    expect(tab.problems).toEqual([]);
  });

  test('who has seen one is noted with a name that is remembered, shown on the filing, and taken back', async () => {
    await using tab = await stage.visit('#/rejections');
    await tab.page.getByRole('button', { name: 'Mark as seen: Insured of f_second' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Mark as seen' });
    await dialog.getByLabel('Your name').fill('Dana Whitfield');
    await dialog.getByLabel('Note').fill('Asked the agent');
    // What is typed outlasts that the list is read again.
    for (let reads = 0; reads < 2; reads += 1) await tab.page.waitForResponse('**/v1/rejections?**');
    await dialog.getByRole('button', { name: 'Mark as seen' }).click();
    await rows(tab).getByText('Dana Whitfield').waitFor();
    await rows(tab).getByText('Asked the agent').waitFor();
    await tab.page.getByRole('button', { name: 'Not seen yet' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_first', 'f_third']);
    await tab.page.getByRole('button', { name: 'Mark as seen: Insured of f_first' }).click();
    expect(await dialog.getByLabel('Your name').inputValue()).toBe('Dana Whitfield');
    await tab.page.keyboard.press('Escape');
    await tab.show('#/accounts/default/filing/f_second');
    await tab.page.getByText('Seen by Dana Whitfield').waitFor();
    await tab.page.getByRole('button', { name: /^Undo: / }).click();
    await tab.page.getByRole('button', { name: /^Mark as seen/ }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('who was told stands beside each, nobody of what was so at the first read, and it is sent to somebody', async () => {
    await using receiver = await startCollector();
    const path = '/v1/accounts/default/subscriptions';
    await using tab = await stage.visit('#/accounts/default');
    await tab.page.getByText('Nobody is told when a filing is rejected').first().waitFor();
    const settings = { url: receiver.url, secret: receiver.secret, description: 'Claims desk' };
    await stage.daemon.api.ok('POST', path, { ...settings, statuses: ['REJECTED'] });
    await tab.page.getByText('Nobody is told when a filing is rejected').waitFor({ state: 'detached' });
    await stage.settle('f_told', { status: 'REJECTED', insuredsName: 'Insured of f_told' });
    await tab.show('#/rejections?order=newest');
    await rows(tab).filter({ hasText: 'f_told' }).getByText('Claims desk').waitFor();
    await tab.page.getByRole('button', { name: 'Told to nobody' }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_second', 'f_first']);
    await tab.picture('rejections-told');
    await rows(tab).getByRole('link', { name: 'Insured of f_first' }).click();
    await tab.page.getByText('Nobody was told so far.').waitFor();
    await tab.page.getByRole('button', { name: 'Send to …' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Send this filing to' });
    await dialog.getByRole('checkbox', { name: 'Claims desk' }).check();
    await tab.picture('send-to');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText('On its way.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await tab.page.locator('.notice').getByText('Claims desk').waitFor();
    const snapshots = receiver.received.filter(({ event }) => event.type === 'filing.snapshot');
    expect(snapshots.map(({ event }) => event.data['filingId'])).toEqual(['f_first']);
    await tab.page.getByText('What to fix').click();
    await tab.page.getByRole('heading', { name: 'Body of create-filing' }).waitFor();
    await tab.picture('filing-what-to-fix');
    await stage.sandbox.forget('f_told');
    expect(tab.problems).toEqual([]);
  });

  test('a token that changes nothing has no buttons for it, and sees its own account alone', async () => {
    const { token } = await stage.daemon.api.ok<{ token: string }>('POST', '/v1/accounts/default/tokens', {
      name: 'reader',
      readOnly: true,
    });
    await using tab = await stage.visit('#/rejections', token);
    await expect.poll(() => insureds(tab)).toEqual(['f_first', 'f_second', 'f_third']);
    expect(await tab.page.getByRole('button', { name: /^Mark as seen/ }).count()).toBe(0);
    expect(await tab.page.getByLabel('Account', { exact: true }).count()).toBe(0);
    await tab.show('#/accounts/default');
    await tab.page.getByText('Polling', { exact: true }).click();
    await tab.page.getByText('Last sweep').waitFor();
    expect(await tab.page.getByRole('button', { name: 'Poll now' }).count()).toBe(0);
    expect(tab.problems).toEqual([]);
  });

  test('the table is saved as CSV, with the filters', async () => {
    await using tab = await stage.visit('#/rejections?state=TX');
    await expect.poll(() => insureds(tab)).toEqual(['f_first']);
    const [saved] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe('rejections.csv');
    const text = await readFile(await saved.path(), 'utf8');
    expect(text).toContain('SL-f_first');
    expect(text).not.toContain('SL-f_second');
    expect(tab.problems).toEqual([]);
  });

  test('rows stay where they are under the pointer until they are asked to move', async () => {
    await using tab = await stage.visit('#/rejections?order=newest');
    await expect.poll(() => insureds(tab)).toEqual(['f_third', 'f_second', 'f_first']);
    await rows(tab).nth(2).hover();
    await stage.settle('f_fourth', {
      status: 'REJECTED',
      rejectionReason: 'Late',
      insuredsName: 'Insured of f_fourth',
    });
    const button = tab.page.getByRole('button', { name: 'Show: 1 new' });
    await button.waitFor();
    expect(await insureds(tab)).toEqual(['f_third', 'f_second', 'f_first']);
    await button.click();
    await expect.poll(() => insureds(tab)).toEqual(['f_fourth', 'f_third', 'f_second', 'f_first']);
    expect(tab.problems).toEqual([]);
  });

  test('what a later filing answers is left out, struck through on wish, and given back', async () => {
    await using tab = await stage.visit('#/accounts/default/filing/f_first');
    await tab.page.getByRole('button', { name: 'Answered by …' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Answered by' });
    await dialog.getByLabel('Id of the corrected filing').fill('f_second');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByRole('button', { name: 'Not answered after all' }).waitFor();
    await tab.show('#/rejections?account=default');
    await expect.poll(async () => (await insureds(tab)).includes('f_first')).toBe(false);
    await tab.page.getByRole('button', { name: 'Answered', exact: true }).click();
    await expect.poll(() => insureds(tab)).toEqual(['f_first']);
    expect(await rows(tab).locator('s').allInnerTexts()).toEqual(['Insured of f_first']);
    await rows(tab).getByRole('link', { name: 'f_second' }).click();
    await tab.page.getByText('Answers', { exact: true }).waitFor();
    await tab.show('#/accounts/default/filing/f_first');
    await tab.page.getByRole('button', { name: 'Not answered after all' }).click();
    await tab.page.getByRole('button', { name: 'Answered by …' }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

test('more rows are shown although the pointer is on the button that asks for them', async () => {
  for (let i = 0; i < 11; i++)
    await stage.settle(`f_more${i}`, { status: 'REJECTED', insuredsName: `Insured of f_more${i}` });
  await using tab = await stage.visit('#/accounts/default');
  await expect.poll(() => insureds(tab)).toHaveLength(10);
  const button = tab.page.getByRole('button', { name: 'Show more' });
  await button.hover();
  await button.click();
  await expect.poll(async () => (await insureds(tab)).length).toBeGreaterThan(10);
  expect(tab.problems).toEqual([]);
});
