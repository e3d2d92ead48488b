import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startCollector, type Collector } from '../support/receivers/collector.ts';
import { expectAccessible } from './accessible.ts';
import { setStage } from './stage.ts';

const stage = setStage(60);
let collector: Collector;
let pages: readonly (readonly [name: string, hash: string, sign: string])[];
let subscription = '';
const wishes = 'form [name="wish"]';

beforeAll(async () => {
  collector = await startCollector();
  const { api } = stage.daemon;
  const path = '/v1/accounts/default/subscriptions';
  const body = {
    url: collector.url,
    secret: collector.secret,
    description: 'Billing',
    headers: { 'x-team': 'billing' },
  };
  const { id } = await api.ok<{ id: string }>('POST', path, body);
  const other = { ...body, description: 'The agency system', statuses: ['REJECTED'], states: ['TX', 'FL'] };
  await api.ok('POST', path, other);
  await api.ok('POST', '/v1/accounts/default/tokens', { name: 'The claims desk', readOnly: true });
  collector.answer(500);
  await stage.settle('f_seen', {
    status: 'REJECTED',
    rejectionReason: 'Not signed',
    insuredsName: 'Seen Inc.',
  });
  const attempts = async () =>
    (await api.ok<{ items: { id: string }[] }>('GET', `${path}/${id}/attempts`)).items;
  const attempt = await vi.waitFor(async () => {
    const [latest] = await attempts();
    if (latest === undefined) throw new Error('there is no attempt yet');
    return latest;
  }, 10_000);
  subscription = `#/accounts/default/subscriptions/${id}`;
  pages = [
    ['subscriptions', '#/accounts/default/subscriptions', '[aria-label="Subscriptions"] a'],
    ['subscription', subscription, '[aria-label^="Dead letters"]'],
    ['new-subscription', '#/accounts/default/subscriptions/new', wishes],
    ['edit-subscription', `${subscription}/edit`, wishes],
    ['attempt', `#/accounts/default/attempts/${attempt.id}`, '.headers'],
    ['tokens', '#/accounts/default/tokens', ':is(tbody tr, .rows li)'],
    ['settings', '#/accounts/default/settings', 'form .days'],
    ['new-account', '#/accounts/new', 'form .days'],
  ];
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
});

const looks = [
  ['light', { colorScheme: 'light', viewport: { width: 1400, height: 900 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1400, height: 900 } }],
  ['tablet', { colorScheme: 'light', viewport: { width: 768, height: 1024 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ['small', { colorScheme: 'light', viewport: { width: 320, height: 640 } }],
] as const;

const dialogs = [
  ['Replay …', () => subscription],
  ['Rotate the secret …', () => subscription],
  ['Disable …', () => subscription],
  ['Delete …', () => subscription],
  ['New token …', () => '#/accounts/default/tokens'],
  ['Share a link …', () => '#/accounts/default/tokens'],
  ['Revoke …', () => '#/accounts/default/tokens'],
  ['Delete the account …', () => '#/accounts/default/settings'],
] as const;

describe.each(looks)('in the look "%s"', (look, options) => {
  test('axe finds nothing on forms, attempts and dialogs, and none is wider than the screen', async () => {
    await using tab = await stage.open(options);
    await tab.signIn();
    for (const [name, hash, sign] of pages) {
      await tab.show(hash);
      await tab.page.locator(sign).first().waitFor();
      await expectAccessible(tab);
      if (sign === wishes) {
        await tab.page.getByRole('radio', { name: /^Choose/ }).check();
        await tab.page.locator('form .ticks').first().waitFor();
        await expectAccessible(tab);
      }
      await tab.picture(`${look}-${name}`);
      const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect([name, await tab.page.evaluate(isWider)]).toEqual([name, false]);
    }
    for (const [label, hash] of dialogs) {
      await tab.show(hash());
      await tab.page.getByRole('button', { name: label }).first().click();
      await tab.page.getByRole('dialog').waitFor();
      await expectAccessible(tab);
      await tab.picture(`${look}-${label.replaceAll(/\W+/g, '-').toLowerCase()}dialog`);
      await tab.page.keyboard.press('Escape');
      await tab.page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    expect(tab.problems).toEqual([]);
  });
});

test('a subscription is made with the keyboard alone', async () => {
  await using tab = await stage.visit('#/accounts/default/subscriptions/new');
  const { page } = tab;
  await page.getByLabel('Endpoint URL').press('ControlOrMeta+a');
  await page.keyboard.type(collector.url);
  await page.keyboard.press('Tab');
  await page.keyboard.type('Typed');
  const focused = () =>
    page.evaluate<string>(
      '(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()',
    );
  const tabTo = async (text: string) => {
    for (let presses = 0; presses < 40; presses += 1) {
      if ((await focused()).startsWith(text)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${text} is not reached with the tab key`);
  };
  await tabTo('Rejections');
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowDown');
  await tabTo('Every filing event');
  await page.keyboard.press('Space');
  await tabTo('filing.rejected');
  await page.keyboard.press('Space');
  await tabTo('Create subscription');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Subscription created' }).waitFor();
  const { items } = await stage.daemon.api.ok<{ items: Record<string, unknown>[] }>(
    'GET',
    '/v1/accounts/default/subscriptions',
  );
  expect(items.find(({ description }) => description === 'Typed')).toMatchObject({
    eventTypes: ['filing.rejected'],
  });
  expect(tab.problems).toEqual([]);
});
