import { expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage();

test('the operator gets from the dashboard to the queues and sees what is in them', async () => {
  await using tab = await stage.visit('#/');
  await tab.page.getByRole('link', { name: 'Queues' }).click();
  await tab.page.getByRole('heading', { name: 'Queues' }).waitFor();
  const rows = tab.page.getByRole('table', { name: 'Queues' }).getByRole('row');
  await expect.poll(() => rows.count()).toBe(3);
  const cells = (name: string) =>
    rows
      .filter({ has: tab.page.getByRole('cell', { name, exact: true }) })
      .getByRole('cell')
      .allInnerTexts();
  // Name, state, …, schedulers, late, workers.
  const [, state, ...poll] = await cells('poll');
  expect(state).toBe('ok');
  expect(poll.slice(-3)).toEqual(['1', '0', '1']);
  const drain = await cells('drain');
  expect(drain.slice(-3)).toEqual(['0', '0', '1']);
  await tab.picture('queues');
  expect(tab.problems).toEqual([]);
});

test('a queue without a worker is shown so', async () => {
  await using tab = await stage.open();
  const jobs = { waiting: 7, active: 0, delayed: 0, failed: 0 };
  const schedulers = { count: 0, late: 0 };
  const queue = { name: 'drain', paused: false, jobs, schedulers, workers: 0, oldestWaitingAt: null };
  await tab.page.route('**/v1/queues', (route) => route.fulfill({ json: { items: [queue] } }));
  await tab.signIn();
  await tab.show('#/queues');
  await tab.page.getByRole('cell', { name: 'no worker' }).waitFor();
  expect(tab.problems).toEqual([]);
});

test('the holder of an account token is shown no way to the queues', async () => {
  const { token } = await stage.daemon.api.ok<{ token: string }>('POST', '/v1/accounts/default/tokens', {
    name: 'browser',
  });
  await using tab = await stage.visit('#/', token);
  expect(await tab.page.getByRole('link', { name: 'Queues' }).count()).toBe(0);
  await tab.show('#/queues');
  await tab.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});
