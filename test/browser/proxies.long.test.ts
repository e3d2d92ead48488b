import { createServer, request as ask, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage(3);
const proxies: Server[] = [];

/** The address of a proxy that passes requests below `prefix` on without it, their headers as `change` says. */
async function startProxy(
  prefix: string,
  change: (headers: IncomingHttpHeaders) => IncomingHttpHeaders,
): Promise<string> {
  const proxy = createServer((request, response) => {
    const { url = '', method } = request;
    if (!url.startsWith(`${prefix}/`)) return void response.writeHead(404).end(`nothing at ${url}`);
    const path = url.slice(prefix.length);
    const onward = ask(
      new URL(path, stage.daemon.url),
      { method, headers: change(request.headers) },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    ).on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}/`;
}

let prefixed: string;
let rewriting: string;

beforeAll(async () => {
  prefixed = await startProxy('/filings', (headers) => headers);
  // Over plain http to a name, browsers send no fetch metadata.
  rewriting = await startProxy('', (headers) => {
    const passed = { ...headers, host: 'daemon.internal:3000' };
    delete passed['sec-fetch-site'];
    return passed;
  });
});

afterAll(() => {
  for (const proxy of proxies) proxy.closeAllConnections();
  for (const proxy of proxies) proxy.close();
});

describe('below a path that a proxy strips', () => {
  test('the page signs in, follows the stream, changes things and signs out', async () => {
    await using tab = await stage.open();
    const missed: string[] = [];
    tab.page.on('response', (response) => {
      if (response.status() === 404) missed.push(response.url());
    });
    await tab.page.goto(prefixed);
    await tab.signIn();
    await tab.show('#/accounts/default');
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    await tab.page.getByText('Poll', { exact: false }).first().waitFor();
    await tab.page.reload();
    await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
    expect(tab.page.url()).toMatch(/\/filings\/#\/accounts\/default/);
    const hrefs = await tab.page.evaluate<string[]>(
      'Promise.resolve([...document.querySelectorAll("[href],[src]")].map((one) => one.href ?? one.src))',
    );
    expect(hrefs.filter((each) => each.startsWith('http') && !each.startsWith(prefixed))).toEqual([]);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByLabel('Token').waitFor();
    expect(missed).toEqual([]);
    expect(tab.problems.filter((each) => !each.startsWith(`request to ${prefixed}`))).toEqual([]);
  });

  test('the reference shows the operations', async () => {
    await using tab = await stage.open();
    await tab.page.getByLabel('Token').waitFor();
    const asked: string[] = [];
    tab.page.on('request', (request) => void asked.push(request.url()));
    await tab.page.goto(`${prefixed}docs`);
    expect(tab.page.url()).toBe(`${prefixed}docs/`);
    await tab.page.getByRole('heading', { name: 'filing-webhooks' }).first().waitFor();
    expect(asked.filter((url) => url.startsWith('http') && !url.startsWith(prefixed))).toEqual([]);
    expect(asked).toContain(`${prefixed}openapi.json`);
  });
});

test('behind a proxy that changes Host, a change says so and stays on the page, and signing out works', async () => {
  await using tab = await stage.open();
  await tab.page.goto(rewriting);
  await tab.signIn();
  await tab.show('#/accounts/default');
  await tab.page.getByRole('heading', { name: 'default', level: 1 }).waitFor();
  await tab.page.locator('summary', { hasText: 'Polling' }).click();
  await tab.page.getByRole('button', { name: 'Poll now' }).click();
  await tab.page.getByText('proxy_set_header Host').waitFor();
  await tab.page.getByText('daemon.internal:3000').waitFor();
  expect(await tab.page.getByRole('heading', { name: 'default', level: 1 }).count()).toBe(1);
  await tab.page.getByRole('button', { name: 'Sign out' }).click();
  await tab.page.getByLabel('Token').waitFor();
  await tab.page.reload();
  await tab.page.getByLabel('Token').waitFor();
});
