import { afterAll, beforeAll, expect, test } from 'vitest';
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

async function visit() {
  const body = { url: collector.url, secret: collector.secret, description: 'The archive' };
  const { id } = await stage.daemon.api.ok<{ id: string }>('POST', path, body);
  const tab = await stage.visit(`#/accounts/default/subscriptions/${id}`);
  await tab.page.getByRole('button', { name: 'Replay …' }).waitFor();
  return { tab, id };
}

const receivedOf = (filing: string) =>
  collector.received.filter(({ event }) => event.data.filingId === filing).length;

test('dead letters are counted, confirmed and delivered again', async () => {
  collector.answer(503);
  const { tab } = await visit();
  await using _ = tab;
  const { page } = tab;
  await stage.settle('f_dead', { status: 'PAID' });
  const dead = page.getByRole('table', { name: 'Dead letters' });
  await dead
    .getByRole('row', {
      name: /filing\.created f_dead 4 attempts of this event HTTP error|filing\.created f_dead 4 HTTP error/,
    })
    .waitFor();
  await tab.picture('subscription');

  collector.answer(200);
  await page.getByRole('button', { name: 'Replay …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay' });
  await dialog.getByLabel('Only the filing').fill('f_dead');
  const before = receivedOf('f_dead');
  await dialog.getByRole('button', { name: 'Count events' }).click();
  await dialog.getByText('1 event matches and will be sent again.').waitFor();
  await tab.picture('replay-confirmation');
  await expectAccessible(tab);
  expect(receivedOf('f_dead')).toBe(before);
  await dialog.getByRole('button', { name: 'Replay 1 event' }).click();
  await page.getByText('Finished: 1 of 1 delivered.').waitFor();
  expect(receivedOf('f_dead')).toBe(before + 1);
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Replay …');
  expect(tab.problems).toEqual([]);
});

test('a change of the conditions asks for another count, and nothing that matches starts nothing', async () => {
  const { tab, id } = await visit();
  await using _ = tab;
  const { page } = tab;
  await stage.settle('f_counted', { status: 'PAID' });
  await expect.poll(() => receivedOf('f_counted')).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Replay …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay' });
  await dialog.getByLabel('The last hour').check();
  await dialog.getByRole('button', { name: 'Count events' }).click();
  await dialog.getByRole('button', { name: /^Replay \d+ events?$/ }).waitFor();
  await dialog.getByLabel('Between two times').check();
  await dialog.getByText(/^Times are in \S+/).waitFor();
  await dialog.getByLabel('Until').fill('2020-01-01T00:00:00');
  await dialog.getByRole('button', { name: 'Count events' }).click();
  await dialog.getByText('No event matches, so nothing would be delivered again.').waitFor();
  const { items } = await stage.daemon.api.ok<{ items: unknown[] }>('GET', `${path}/${id}/replays`);
  expect(items).toEqual([]);
  expect(tab.problems).toEqual([]);
});

test('one in progress is there after a reload, and can be cancelled', async () => {
  const { tab } = await visit();
  await using _ = tab;
  const { page } = tab;
  await stage.settle('f_many', { status: 'PAID' });
  await expect.poll(() => receivedOf('f_many')).toBeGreaterThan(0);
  collector.answer(503, { 'retry-after': '600' });
  await page.getByRole('button', { name: 'Replay …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay' });
  await dialog.getByLabel('Everything that is still in the log').check();
  await dialog.getByRole('button', { name: 'Count events' }).click();
  await dialog.getByRole('button', { name: /^Replay \d+ events?$/ }).click();
  const replays = page.getByRole('table', { name: 'Replays' });
  await replays.getByText(/^In progress: 0 of \d+ delivered/).waitFor();
  await page.reload();
  await replays.getByText(/^In progress: 0 of \d+ delivered/).waitFor();
  await tab.picture('replays');
  await replays.getByRole('button', { name: 'Cancel …' }).click();
  const question = page.getByRole('dialog', { name: 'Cancel the replay' });
  await question.getByText('What was delivered stays delivered.').waitFor();
  await question.getByRole('button', { name: 'Cancel the replay' }).click();
  await replays.getByText(/^Cancelled: 0 of \d+ delivered/).waitFor();
  collector.answer(200);
  expect(tab.problems).toEqual([]);
});
