import { expect, test } from 'vitest';
import { setStage } from './stage.ts';

const stage = setStage(200);
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];

async function assets(): Promise<string[]> {
  await using tab = await stage.open();
  const names = await tab.page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name)`,
  );
  return [`${stage.daemon.url}/`, ...names.filter((name) => name.includes('/assets/'))];
}

test('every file forbids what is inline, elsewhere, framed or sniffed', async () => {
  const urls = await assets();
  expect(urls.length).toBeGreaterThan(10);
  for (const url of urls) {
    const { headers, status } = await fetch(url);
    expect([url, status]).toEqual([url, 200]);
    expect(headers.get('content-security-policy')?.split('; ')).toEqual(policy);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  }
});

test('no file is sent again to a browser that has it', async () => {
  for (const url of await assets()) {
    const first = await fetch(url);
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(url, { headers: { 'if-none-match': etag } });
    expect([url, again.status, await again.text()]).toEqual([url, 304, '']);
    expect(first.headers.get('cache-control')).toBe('no-cache');
  }
});

test('a browser that takes no gzip gets the same text', async () => {
  const [zipped, plain] = await Promise.all(
    ['gzip', 'gzip;q=0, identity'].map((encodings) =>
      fetch(`${stage.daemon.url}/assets/main.js`, { headers: { 'accept-encoding': encodings } }),
    ),
  );
  expect(zipped?.headers.get('content-encoding')).toBe('gzip');
  expect(plain?.headers.get('content-encoding')).toBeNull();
  expect(await plain?.text()).toBe(await zipped?.text());
});

test('what is not of the page is not served', async () => {
  const paths = [
    'tsconfig.json',
    'catalogue.d.ts',
    '../api-types.ts',
    'vendor/preact.d.ts',
    '../dashboard.ts',
    '%2e%2e/dashboard.ts',
    'index.html',
  ];
  for (const path of paths) {
    const { status } = await fetch(`${stage.daemon.url}/assets/${path}`);
    expect([path, status]).toEqual([path, 404]);
  }
});

test('the page and the first account take at most 150 kB, with as much of the past as there can be', async () => {
  await using tab = await stage.open();
  const counts = { UNPAID: 10_000, PAID: 10_000, PENDING: 10_000, COMPLETED: 1_000_000, REJECTED: 10_000 };
  const items = Array.from({ length: 200 }, (_, i) => ({
    at: new Date(Date.now() - (200 - i) * 60_000).toISOString(),
    counts,
  }));
  await tab.page.route('**/counts?*', (route) => route.fulfill({ json: { items } }));
  const session = await tab.page.context().newCDPSession(tab.page);
  // By address: what a slow machine asks for again meanwhile is no part of it.
  const urls = new Map<string, string>();
  const bytesOf = new Map<string, number>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytesOf.set(urls.get(requestId) ?? requestId, encodedDataLength);
  });
  await session.send('Network.enable');
  await tab.signIn();
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  bytesOf.clear();
  await tab.page.reload();
  await tab.page.getByRole('link', { name: 'default' }).click();
  await tab.page.locator('.trend').first().waitFor();
  const bytes = [...bytesOf.values()].reduce((sum, each) => sum + each, 0);
  expect(bytes).toBeGreaterThan(JSON.stringify({ items }).length + 30_000);
  expect(bytes).toBeLessThan(150_000);
});
