import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { setStage } from './stage.ts';

const stage = setStage();

/** A page of another site; it shows what the address asks for, and its scripts may do anything. */
const foreign = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://foreign');
  const shown = searchParams.get('frame');
  response.setHeader('content-type', 'text/html');
  response.end(
    `<!doctype html><title>foreign</title>${shown === null ? '' : `<iframe src="${shown}" width="1000" height="600"></iframe>`}`,
  );
});
let foreignUrl: string;
let framable: DaemonProcess;

beforeAll(async () => {
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  // Another site than 127.0.0.1, and one that browsers trust as they trust https.
  foreignUrl = `http://localhost:${(foreign.address() as AddressInfo).port}`;
  framable = await startDaemonProcess({
    REDIS_URL: stage.redis.url,
    REDIS_PREFIX: stage.redis.prefix,
    ROLES: 'api',
    FRAME_ANCESTORS: foreignUrl,
  });
}, 30_000);

afterAll(async () => {
  await framable[Symbol.asyncDispose]();
  foreign.close();
});

async function makeLink(settings: object = {}, daemon = stage.daemon): Promise<string> {
  const { url } = await daemon.api.ok<{ url: string }>('POST', '/v1/accounts/default/links', {
    expiresInMs: 600_000,
    ...settings,
  });
  return url;
}

describe('a link', () => {
  test('opens the page for its account, in each browser that has it, and leaves the address', async () => {
    const url = await makeLink();
    for (let visitors = 0; visitors < 2; visitors += 1) {
      await using tab = await stage.open();
      await tab.page.goto(url);
      await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
      expect(tab.page.url()).not.toContain('fwl_');
      expect(await tab.page.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
      const other = await tab.page.context().newPage();
      await other.goto(stage.daemon.url);
      await other.getByRole('heading', { name: 'default', level: 1 }).waitFor();
      expect(tab.problems).toEqual([]);
    }
  });

  test('that has expired says so, and what to do', async () => {
    const url = await makeLink({ expiresInMs: 1_000 });
    await using tab = await stage.open();
    await expect
      .poll(async () => {
        await tab.page.goto('about:blank');
        await tab.page.goto(url);
        const gone = tab.page.getByText('It has expired or was revoked; ask for a new one.');
        await gone
          .or(tab.page.getByRole('button', { name: 'Sign out' }))
          .first()
          .waitFor();
        return gone.count();
      })
      .toBe(1);
    await tab.picture('link-expired');
  });

  test('asks before it takes the place of another session', async () => {
    const url = await makeLink();
    await using tab = await stage.visit('#/');
    await tab.page.goto(url);
    await tab.page.getByRole('heading', { name: 'Open this link?' }).waitFor();
    await tab.picture('link-asks');
    await tab.page.getByRole('button', { name: 'Stay signed in' }).click();
    await tab.page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await tab.show(new URL(url).hash);
    await tab.page.getByRole('button', { name: 'Open the link' }).click();
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });
});

describe('a page of another site', () => {
  test('cannot use the session of the browser', async () => {
    await using tab = await stage.visit('#/');
    const other = await tab.page.context().newPage();
    await other.goto(foreignUrl);
    const target = `${stage.daemon.url}/v1/accounts/default/tokens`;
    // What a script may send without being asked back, and what needs a preflight, which is refused.
    const answers: unknown = await other.evaluate(async (url) => {
      const attempt = (init: RequestInit) =>
        fetch(url, { method: 'POST', credentials: 'include', ...init }).then(
          ({ type, status }) => `${type} ${status}`,
          () => 'refused',
        );
      return [
        await attempt({ mode: 'no-cors', body: '{"name":"forged"}' }),
        await attempt({
          headers: { 'x-filing-webhooks': 'page', 'content-type': 'application/json' },
          body: '{}',
        }),
      ];
    }, target);
    expect(answers).toEqual(['refused', 'refused']);
    const { items } = await stage.daemon.api.ok<{ items: { name: string }[] }>(
      'GET',
      '/v1/accounts/default/tokens',
    );
    expect(items.filter(({ name }) => name === 'forged' || name === 'unnamed')).toEqual([]);
  });

  test('cannot show the page in a frame', async () => {
    await using tab = await stage.open();
    await tab.page.goto(`${foreignUrl}/?frame=${encodeURIComponent(stage.daemon.url)}`);
    await expect.poll(() => tab.page.frames().at(-1)?.url()).toMatch(/^chrome-error:/);
  });

  test('can where it is configured, for links alone', async () => {
    await using tab = await stage.open();
    await tab.page.goto(framable.url);
    await tab.signIn();
    const frame = tab.page.frameLocator('iframe');
    await tab.page.goto(`${foreignUrl}/?frame=${encodeURIComponent(framable.url)}`);
    await frame.getByRole('link', { name: 'Open this page in a tab of its own' }).waitFor();
    expect(await frame.getByLabel('Token').count()).toBe(0);
    const url = await makeLink({}, framable);
    await tab.page.goto(`${foreignUrl}/?again&frame=${encodeURIComponent(url)}`);
    await frame.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    await frame.getByRole('link', { name: 'Filings' }).first().click();
    await frame.getByRole('heading', { name: 'Filings' }).waitFor();
    await tab.picture('link-framed');
  });
});
