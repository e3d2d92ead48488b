import { expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage();

interface BoardQueue {
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly jobSchedulerCount: number;
}

test('the operator gets from the dashboard to the queues, sees what is in them and changes nothing', async () => {
  await using tab = await stage.visit('#/');
  await tab.page.getByRole('link', { name: 'Queues' }).click();
  await tab.page.waitForURL('**/queues/');
  await expect
    .poll(() => tab.page.locator('main').innerText(), { timeout: 15_000 })
    .toMatch(/drain[\s\S]*poll/);
  expect(await tab.page.getByRole('button', { name: /clean|retry|pause|obliterate/i }).count()).toBe(0);

  const shown = tab.page.waitForResponse(/\/queues\/api\/queues\?.*activeQueue=poll/);
  await tab.page.goto(`${stage.daemon.url}/queues/queue/poll?status=delayed`);
  const { queues } = (await (await shown).json()) as { queues: BoardQueue[] };
  const poll = queues.find(({ name }) => name === 'poll');
  expect(poll?.jobSchedulerCount).toBe(1);
  // The poll that is to come, and perhaps one that is under way.
  expect((poll?.counts['delayed'] ?? 0) + (poll?.counts['active'] ?? 0)).toBeGreaterThan(0);
  await tab.page.getByText('repeat:poll-default').first().waitFor();
  await tab.picture('queues');
  expect(tab.problems).toEqual([]);
});

test('whoever signs out of the dashboard has left the queues too', async () => {
  await using tab = await stage.visit('#/');
  await tab.page.getByRole('link', { name: 'Queues' }).click();
  await tab.page.waitForURL('**/queues/');
  const [cookie] = await tab.page.context().cookies(`${stage.daemon.url}/queues/`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/queues' });
  expect(await tab.page.evaluate('document.cookie')).toBe('');

  await tab.page.goto(stage.daemon.url);
  await tab.page.getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => tab.page.context().cookies(`${stage.daemon.url}/queues/`)).toEqual([]);
  expect((await tab.page.goto(`${stage.daemon.url}/queues/`))?.status()).toBe(401);
  expect(tab.problems).toEqual([]);
});

test('the holder of an account token is shown no way to the queues', async () => {
  const { token } = await stage.daemon.api.ok<{ token: string }>('POST', '/v1/accounts/default/tokens', {
    name: 'browser',
  });
  await using tab = await stage.visit('#/', token);
  expect(await tab.page.getByRole('link', { name: 'Queues' }).count()).toBe(0);
});
