import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('behind a proxy that cuts off a path, the page finds its files, its jobs and its cookie', async () => {
  await using proxy = await startProxy('/hooks', stage.daemon.url);
  await using tab = await stage.open();
  await tab.page.goto(`${proxy.url}/`);
  await tab.signIn();
  await tab.page.getByRole('link', { name: 'Queues' }).click();
  await tab.page.waitForURL(`${proxy.url}/queues/`);
  await tab.page.getByRole('link', { name: /^poll/ }).first().click();
  await tab.page.waitForURL(`${proxy.url}/queues/queue/poll**`);
  await tab.page.reload();
  await tab.page.getByText('repeat:poll-default').first().waitFor();
  const [cookie] = await tab.page.context().cookies(`${proxy.url}/queues/`);
  expect(cookie?.path).toBe('/hooks/queues');
  expect(tab.problems.filter((problem) => !problem.startsWith('request to http://127.0.0.1'))).toEqual([]);
});

/** A proxy that passes on what comes under a path, without this path. */
async function startProxy(path: string, to: string) {
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    const passed = forward(new URL(url.slice(path.length), to), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
