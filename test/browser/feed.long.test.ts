import { beforeAll, describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage();
const changes = '#/accounts/default/changes';

beforeAll(async () => {
  await stage.settle('f_life', { status: 'UNPAID', insuredsName: 'Long Life Ltd.', policyNumber: 'SL-1' });
  await stage.settle('f_life', { status: 'PENDING' });
  await stage.settle('f_life', { status: 'REJECTED', rejectionReason: 'Premium differs' });
});

function entries({ page }: WatchedPage) {
  return page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem');
}

describe('changes', () => {
  test('shows what is in the log, then each change as it comes, newest first', async () => {
    await using tab = await stage.visit(changes);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => entries(tab).first().innerText()).toContain('Premium differs');
    await stage.settle('f_new', { status: 'PAID', insuredsName: 'Brand New Inc.' });
    await entries(tab).first().getByText('Brand New Inc.').waitFor();
    await tab.page.getByText(/^\d+ new changes?$/).waitFor({ state: 'attached' });
    await tab.picture('changes');
    expect(tab.problems).toEqual([]);
  });

  test('leads to a filing, whose timeline tells all that happened to it', async () => {
    await using tab = await stage.visit(changes);
    await tab.page.getByLabel('Contains').fill('Premium differs');
    await expect.poll(() => entries(tab).count()).toBe(1);
    await entries(tab).getByRole('link', { name: 'Long Life Ltd.' }).click();
    await tab.page.getByRole('heading', { name: 'Long Life Ltd.', level: 1 }).waitFor();
    const steps = tab.page.locator('.timeline > li');
    await expect.poll(() => steps.count()).toBe(3);
    expect(await steps.allInnerTexts()).toEqual([
      expect.stringMatching(/filing\.rejected[^]*PENDING → REJECTED[^]*Premium differs/),
      expect.stringMatching(/filing\.pending[^]*UNPAID → PENDING/),
      expect.stringMatching(/filing\.created[^]*new → UNPAID/),
    ]);
    await steps.first().getByText('What was sent').click();
    await steps.first().getByText('"filingId": "f_life"').waitFor();
    await tab.picture('filing');
    expect(tab.problems).toEqual([]);
  });
});
