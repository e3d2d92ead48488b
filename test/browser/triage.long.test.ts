import { beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage();
const ids = ['f_first', 'f_second', 'f_third', 'f_fourth'] as const;

beforeAll(async () => {
  for (const id of ids)
    await stage.settle(id, {
      status: 'REJECTED',
      rejectionReason: id === 'f_fourth' ? 'Premium differs' : 'Affidavit is not signed',
      insuredsName: `Insured of ${id}`,
    });
});

async function makeLink(right: string): Promise<string> {
  const body = { expiresInMs: 600_000, right };
  return (await stage.daemon.api.ok<{ url: string }>('POST', '/v1/accounts/default/links', body)).url;
}

const filing = (id: string) => stage.daemon.api.ok('GET', `/v1/accounts/default/filings/${id}`);

/** Counts the clicks of a pointer from now on. */
async function countClicks({ page }: WatchedPage): Promise<() => Promise<number>> {
  await page.evaluate(`
    window.clicks = 0;
    addEventListener('click', ({ detail }) => { window.clicks += detail > 0 ? 1 : 0; }, true);`);
  return () => page.evaluate<number>('window.clicks');
}

const focused = ({ page }: WatchedPage) =>
  page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.name');

describe('a clerk with a link to triage', () => {
  test('comes from a message to a rejection that is seen, noted and theirs, by keyboard alone', async () => {
    await using tab = await stage.open();
    await tab.page.goto(await makeLink('triage'));
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    const clicks = await countClicks(tab);
    // What "Take it" opens.
    await tab.show('#/accounts/default/filing/f_first?take=1');
    await tab.page.getByRole('dialog', { name: 'Mark as seen' }).waitFor();
    await expect.poll(() => focused(tab)).toBe('by');
    await expectAccessible(tab);
    await tab.page.keyboard.type('Dana Reyes');
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.type('Asked the broker');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('Assigned to Dana Reyes').waitFor();
    await expect.poll(() => tab.page.evaluate('document.activeElement.tagName')).toBe('H1');
    const timeline = tab.page.getByRole('listitem').filter({ hasText: 'filing.noted' });
    await timeline.getByText('Dana Reyes has seen it').waitFor();
    expect(await filing('f_first')).toMatchObject({
      seen: { by: 'Dana Reyes', note: 'Asked the broker' },
      assignee: 'Dana Reyes',
      note: { by: 'Dana Reyes', text: 'Asked the broker' },
    });
    expect(await clicks()).toBe(0);
    expect(tab.page.url()).not.toContain('take');
    await tab.page.getByRole('button', { name: 'Write a note …' }).click();
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByLabel('Note').fill('The broker signs today');
    await dialog.getByRole('button', { name: 'Write the note' }).click();
    await timeline.getByText('The broker signs today', { exact: true }).waitFor();
    await tab.page.getByRole('button', { name: 'Assign …' }).click();
    await dialog.getByLabel('Assign to').fill('Lee');
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await tab.page.getByText('Assigned to Lee').waitFor();
    await tab.page.getByText('What to fix').click();
    await tab.page.getByRole('heading', { name: 'Body of create-filing' }).waitFor();
    await tab.picture('filing-noted');
    await expectAccessible(tab);
    await tab.show('#/accounts/default/subscriptions');
    await tab.page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor();
    expect(await tab.page.getByRole('link', { name: /New subscription/ }).count()).toBe(0);
    expect(tab.problems).toEqual([]);
  });

  test('gets the focus to the next rejection after a mark, and finds what is theirs and what is nobody’s', async () => {
    await using tab = await stage.open();
    await tab.page.goto(await makeLink('triage'));
    await tab.show('#/rejections?order=newest');
    await tab.page.getByRole('button', { name: 'Mark as seen: Insured of f_fourth' }).focus();
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => focused(tab)).toBe('by');
    await tab.page.keyboard.type('Dana Reyes');
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => focused(tab)).toBe('Mark as seen: Insured of f_third');
    await tab.page.getByRole('button', { name: 'Undo: Insured of f_fourth' }).focus();
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => focused(tab)).toBe('Mark as seen: Insured of f_fourth');
    await tab.page.reload();
    await tab.page.getByRole('button', { name: 'Unassigned' }).click();
    await tab.page.getByRole('link', { name: 'Insured of f_fourth' }).waitFor();
    await tab.page.getByRole('link', { name: 'Insured of f_first' }).waitFor({ state: 'detached' });
    await tab.page.getByRole('button', { name: 'Mine' }).click();
    await tab.page.getByText('Nothing that is rejected matches these filters.').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('marks three rejections with three clicks', async () => {
    await using tab = await stage.open();
    await tab.page.goto(await makeLink('triage'));
    for (const id of ids) await stage.daemon.api.call('DELETE', `/v1/accounts/default/filings/${id}/seen`);
    await tab.show('#/rejections');
    await tab.page.getByRole('button', { name: 'Mark all 4 shown as seen …' }).waitFor();
    await tab.page.evaluate('localStorage.setItem("filing-webhooks.name", "Dana Reyes")');
    const clicks = await countClicks(tab);
    await tab.page.getByRole('button', { name: '3 Affidavit is not signed' }).click();
    await tab.page.getByRole('button', { name: 'Mark all 3 shown as seen …' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Mark as seen' }).click();
    await tab.page.getByText('Seen by Dana Reyes').nth(2).waitFor();
    expect(await clicks()).toBe(3);
    for (const id of ids.slice(0, 3)) expect(await filing(id)).toMatchObject({ seen: { by: 'Dana Reyes' } });
    expect(await filing('f_fourth')).toMatchObject({ seen: null });
    await tab.page.getByRole('button', { name: 'Clear filters' }).click();
    await tab.page.getByLabel('Choose Insured of f_fourth').check();
    await tab.page.getByRole('button', { name: 'Mark 1 chosen as seen …' }).waitFor();
    await tab.picture('rejections-chosen');
    await expectAccessible(tab);
    await tab.page.setViewportSize({ width: 390, height: 800 });
    await tab.page.getByLabel('Choose Insured of f_fourth').waitFor();
    await expectAccessible(tab);
    expect(tab.problems).toEqual([]);
  });
});

test('a link that only reads shows what was noted, and no button for it', async () => {
  await stage.daemon.api.ok('PUT', '/v1/accounts/default/filings/f_first/assignee', {
    by: 'Dana',
    assignee: 'Lee',
  });
  await using tab = await stage.open();
  await tab.page.goto(await makeLink('read'));
  await tab.show('#/accounts/default/filing/f_first?take=1');
  await tab.page.getByText('Assigned to Lee').waitFor();
  expect(await tab.page.getByRole('dialog').count()).toBe(0);
  expect(await tab.page.getByRole('button', { name: /Assign|note|Mark|Undo/ }).count()).toBe(0);
  await tab.show('#/accounts/default/filing/f_fourth');
  await tab.page.getByText('Seen by nobody yet').waitFor();
  expect(tab.problems).toEqual([]);
});

describe('whoever has to sign in first', () => {
  const wanted = '#/accounts/default/filing/f_first';

  test('gets to the page that was wanted by opening the link again, in the same tab and in another', async () => {
    const url = await makeLink('triage');
    await using tab = await stage.open();
    await tab.page.goto(`${stage.daemon.url}/${wanted}`);
    await tab.page.getByText('Were you given a link?').waitFor();
    await tab.page.goto(url);
    await tab.page.getByRole('heading', { name: 'Insured of f_first' }).waitFor();
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor();
    const other = await tab.page.context().newPage();
    await other.goto(url);
    for (const page of [other, tab.page])
      await page.getByRole('heading', { name: 'Insured of f_first' }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('is told that a link has expired, also where the form stands already', async () => {
    await using tab = await stage.open();
    await tab.page.getByLabel('Token').fill('not-the-token-of-anybody');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('alert').getByText('This token is not valid').waitFor();
    await tab.show(`#/link/fwl_${'x'.repeat(43)}.default`);
    await tab.page
      .getByRole('alert')
      .getByText('It has expired or was revoked; ask for a new one.')
      .waitFor();
    expect(tab.problems).toEqual([]);
  });
});
