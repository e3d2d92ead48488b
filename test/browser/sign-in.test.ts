import { describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage();

async function makeToken(): Promise<{ id: string; token: string }> {
  return stage.daemon.api.ok('POST', '/v1/accounts/default/tokens', { name: 'browser' });
}

describe('signing in', () => {
  test('says that a wrong token is wrong, and takes the right one then', async () => {
    await using tab = await stage.open();
    await tab.page.getByLabel('Token').fill('not-the-token-of-anybody');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    expect(await tab.page.getByLabel('Token').getAttribute('type')).toBe('text');
    await tab.page.getByLabel('Token').focus();
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('alert').getByText('This token is not valid').waitFor();
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('token');
    await tab.picture('sign-in-wrong');
    await tab.signIn();
    await tab.page.getByRole('heading', { name: 'Accounts' }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('says that a token with a line break inside was not copied whole', async () => {
    await using tab = await stage.open();
    await tab.page.getByLabel('Token').fill('two words');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('This token is not valid').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('leads the holder of an account token to that account and shows no way to others', async () => {
    const { token } = await makeToken();
    await using tab = await stage.open();
    await tab.signIn(token);
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    expect(await tab.page.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
    expect(tab.problems).toEqual([]);
  });

  test('shows the page that is asked for at the moment at which it is done', async () => {
    await using tab = await stage.open();
    // Runs before the browser has painted what is observed.
    await tab.page.evaluate(`
      new MutationObserver((_, observer) => {
        if (![...document.querySelectorAll('button')].some((one) => one.textContent === 'Sign out')) return;
        observer.disconnect();
        location.hash = '#/accounts/default/filings';
      }).observe(document.body, { childList: true, subtree: true });`);
    await tab.signIn();
    await tab.page.getByRole('heading', { name: 'Filings', level: 1 }).waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('what an open page reads is logged at debug level, and signing in at info', async () => {
    await using tab = await stage.visit('#/accounts/default/filings');
    await tab.page.getByRole('heading', { name: 'Filings', level: 1 }).waitFor();
    const levels = (method: string, route: string) => {
      const wanted = { msg: 'http.request', method, route };
      const found = stage.daemon.logs.filter((line) =>
        Object.entries(wanted).every(([k, v]) => line[k] === v),
      );
      return [...new Set(found.map(({ level }) => level))];
    };
    await expect.poll(() => levels('GET', '/v1/accounts/:account/filings')).toEqual([20]);
    expect(levels('POST', '/v1/session')).toContain(30);
    expect(levels('GET', '/v1/accounts/:account')).toContain(30); // the harness, with a token
  });

  test('a new tab is signed in, with a cookie that no script can read', async () => {
    await using tab = await stage.visit('#/accounts/default/filings');
    await tab.page.reload();
    await tab.page.getByRole('heading', { name: 'Filings' }).waitFor();
    const other = await tab.page.context().newPage();
    await other.goto(`${stage.daemon.url}/#/accounts/default/filings`);
    await other.getByRole('heading', { name: 'Filings' }).waitFor();
    const [cookie, ...more] = await tab.page.context().cookies();
    expect(more).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    const kept = 'document.cookie + localStorage.length + sessionStorage.length';
    expect(await tab.page.evaluate(kept)).toBe('00');
    expect(tab.problems).toEqual([]);
  });

  test('signing out ends the session on the server, and in every tab', async () => {
    await using tab = await stage.visit('#/');
    const other = await tab.page.context().newPage();
    await other.goto(stage.daemon.url);
    await other.getByRole('heading', { name: 'Accounts' }).waitFor();
    const cookies = await tab.page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const ask = async () =>
      (await fetch(`${stage.daemon.url}/v1/session`, { headers: { cookie, 'x-filing-webhooks': 'page' } }))
        .status;
    expect(await ask()).toBe(200);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByLabel('Token').waitFor();
    await other.getByLabel('Token').waitFor();
    expect(await tab.page.context().cookies()).toEqual([]);
    expect(await ask()).toBe(401);
    expect(tab.problems).toEqual([]);
  });

  test('asks again when the token is revoked meanwhile', async () => {
    const { id, token } = await makeToken();
    await using tab = await stage.visit('#/accounts/default', token);
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    await stage.daemon.api.ok('DELETE', `/v1/accounts/default/tokens/${id}`);
    await tab.page.getByText('The token is no longer valid').waitFor();
    await tab.page.getByLabel('Token').waitFor();
    expect(tab.problems).toEqual([]);
  });
});
