import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';

const stage = setStage();
const path = '/v1/accounts/default/subscriptions';
let collector: Collector;

beforeAll(async () => {
  collector = await startCollector();
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

async function subscribe(settings: Record<string, unknown> = {}): Promise<string> {
  const body = { url: collector.url, secret: collector.secret, ...settings };
  return (await stage.daemon.api.ok<{ id: string }>('POST', path, body)).id;
}

const rejected = {
  status: 'REJECTED',
  rejectionReason: 'Affidavit is not signed',
  insuredsName: 'Opened LLC',
  policyNumber: 'SL-OPENED',
};

describe('an attempt', () => {
  test('has a page with request and response, and its event is sent again from there', async () => {
    const id = await subscribe({ description: 'The agency', headers: { authorization: 'Basic c2VjcmV0' } });
    await stage.settle('f_opened', rejected);
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
    const { page } = tab;
    const row = page.getByRole('row', { name: /f_opened 1 Delivered 200/ });
    await row.getByRole('link', { name: /, attempt 1 of filing\.created/ }).click();
    await page.getByText('The endpoint acknowledged the event.').waitFor();
    const { id: eventId } = collector.received.find(({ event }) => event.data.filingId === 'f_opened') ?? {};
    await page.locator('.facts').getByText(String(eventId)).waitFor();
    const request = page.getByRole('region', { name: 'Request' });
    await request.getByText('webhook-signature').waitFor();
    await request.getByText('Affidavit is not signed').waitFor();
    expect(await request.innerText()).not.toContain('c2VjcmV0');
    await page.getByRole('region', { name: 'Response' }).getByText('noted').waitFor();
    await page.getByRole('list', { name: 'Deliveries' }).getByText('Delivered').waitFor();
    await tab.picture('attempt');
    await expectAccessible(tab);

    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Finished: 1 of 1 delivered.').waitFor();
    expect(collector.received.filter((one) => one.id === eventId)).toHaveLength(2);
    const others = page.getByRole('table', { name: 'Attempts' });
    await others.getByRole('row', { name: /this one/ }).waitFor();
    await expect.poll(() => others.getByRole('row').count(), { timeout: 20_000 }).toBe(3);
    expect(tab.problems).toEqual([]);
  });

  test('is found in three clicks by the policy number of its filing', async () => {
    await subscribe({ description: 'The binder service' });
    await stage.settle('f_clicks', { ...rejected, policyNumber: 'SL-CLICKS' });
    await using tab = await stage.visit('#/');
    const { page } = tab;
    await page.keyboard.press('/');
    await page.keyboard.type('SL-CLICKS');
    await page.keyboard.press('Enter');
    await page
      .locator('main a', { hasText: /SL-CLICKS|Opened LLC/ })
      .first()
      .click();
    const deliveries = page.getByRole('list', { name: 'Deliveries' }).first();
    await deliveries
      .getByRole('listitem')
      .filter({ hasText: 'The binder service' })
      .getByText('Delivered')
      .waitFor();
    await tab.picture('did-they-get-it');
    expect(tab.problems).toEqual([]);
  });

  test('that failed says what to do, who has the event and who waits for it', async () => {
    await using broken = await startCollector();
    broken.answer(401);
    const id = await subscribe({ description: 'Refuses', url: broken.url });
    await stage.settle('f_refused', rejected);
    await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
    const { page } = tab;
    await page.getByRole('link', { name: /, attempt 1 of filing\.created/ }).click();
    await page
      .getByText('The receiver refuses the request: check that it has the right signing secret')
      .waitFor();
    const mine = page
      .getByRole('list', { name: 'Deliveries' })
      .getByRole('listitem')
      .filter({ hasText: 'Refuses' });
    await expect.poll(() => mine.innerText()).toMatch(/Waiting|Given up/);
    const words = page.getByRole('list', { name: 'Deliveries' }).locator('.badge');
    const isFirst = async () => {
      const all = await words.allInnerTexts();
      return all.includes('Delivered') && all[0] !== 'Delivered';
    };
    await expect.poll(isFirst, { message: 'those without the event stand first' }).toBe(true);
    await tab.picture('attempt-failed');
    await stage.daemon.api.ok('PATCH', `${path}/${id}`, { enabled: false });
    await stage.settle('f_refused', { ...rejected, rejectionReason: 'Another reason' });
    await tab.show('#/accounts/default/filing/f_refused');
    await page.getByText('not sent: the subscription is disabled').waitFor();
    expect(tab.problems).toEqual([]);
  });
});

test('attempts are filtered by outcome, event, filing and time on the server, and the address keeps it', async () => {
  const id = await subscribe();
  await stage.settle('f_good', rejected);
  // The subscriptions of the tests before have the same collector.
  await expect
    .poll(() => stage.daemon.api.ok<{ items: unknown[] }>('GET', `${path}/${id}/attempts?outcome=delivered`))
    .toMatchObject({ items: [{ filingId: 'f_good' }] });
  collector.answer(500);
  await stage.settle('f_bad', rejected);
  await using tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
  const { page } = tab;
  const table = page.getByRole('table', { name: 'Attempts' });
  await table.getByRole('row', { name: /f_bad/ }).first().waitFor();
  await table.getByRole('row', { name: /f_good/ }).waitFor();
  const asked = page.waitForRequest(/attempts\?outcome=delivered/);
  await page.getByLabel('Outcome').selectOption('Delivered');
  await asked;
  await table.getByRole('row', { name: /f_bad/ }).first().waitFor({ state: 'detached' });
  expect(new URL(page.url()).hash).toContain('outcome=delivered');
  await page.reload();
  await table.getByRole('row', { name: /f_good/ }).waitFor();
  expect(await table.getByRole('row', { name: /f_bad/ }).count()).toBe(0);
  await tab.picture('attempts-filtered');
  await page.getByLabel('Until').fill('2020-01-01T00:00:00');
  await page.getByLabel('Until').blur();
  await page.getByText('No attempt that is still kept matches.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await table.getByRole('row', { name: /f_bad/ }).first().waitFor();
  await page.getByLabel('Id of a filing').fill('f_good');
  await table.getByRole('row', { name: /f_bad/ }).first().waitFor({ state: 'detached' });
  await table.getByRole('row', { name: /f_good/ }).waitFor();
  collector.answer(200);
  expect(tab.problems).toEqual([]);
});
