import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHostLookup } from '../../../src/names/host-lookup.ts';
import { checkKey } from '../../../src/partner/check-key.ts';
import { startHostilePartner, type HostilePartner } from '../../support/partner/hostile-partner.ts';

let partner: HostilePartner;
beforeAll(async () => {
  partner = await startHostilePartner();
});
afterAll(() => partner[Symbol.asyncDispose]());

const lookup = createHostLookup();

async function check(baseUrl = partner.baseUrl, partnerKey = partner.key, timeoutMs = 5_000) {
  const before = partner.requests.length;
  const found = await checkKey(
    { lookup, timeoutMs, now: Date.now, hostBudgets: null },
    { account: 'a', baseUrl, partnerKey },
  );
  expect(found.detail).not.toContain(partner.key);
  return { ...found, requests: partner.requests.length - before };
}

it('is ok where the service takes the key', async () => {
  expect(await check()).toMatchObject({ ok: true, requests: 1 });
});

it('names a wrong key', async () => {
  expect(await check(partner.baseUrl, 'another')).toMatchObject({
    ok: false,
    requests: 1,
    detail: expect.stringMatching(/answered 401: give the right key \(partnerKey\)/),
  });
});

it('names a base address without its version segment', async () => {
  const { detail, requests } = await check(partner.baseUrl.replace('/v1', ''));
  expect([detail, requests]).toEqual([
    expect.stringMatching(/answered 404: check the address .*baseUrl.*version segment/),
    1,
  ]);
});

it.each<[string, HostilePartner['misbehave'], RegExp]>([
  ['a page in HTML', () => ({ body: '<html>' }), /check the address .*baseUrl.*version segment/],
  ['a service in trouble', () => ({ status: 503 }), /answered 503.*polls go on trying/],
  ['a service that asks to slow down', () => ({ status: 429 }), /answered 429.*polls go on trying/],
  ['a cut connection', () => ({ destroy: true }), /cannot be reached/],
  ['no answer in time', () => ({ after: new Promise(() => undefined) }), /could not be checked/],
])('names %s, after one request', async (_, misbehave, detail) => {
  partner.misbehave = misbehave;
  const found = await check(partner.baseUrl, partner.key, 300);
  partner.misbehave = () => undefined;
  expect(found).toMatchObject({ ok: false, requests: 1, detail: expect.stringMatching(detail) });
});

it('names a host that cannot be reached', async () => {
  const found = await check('http://127.0.0.1:1/v1');
  expect(found).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/cannot be reached.*polls go on trying/),
  });
});

it('a check that gets no turn in time names the budget that it waits for', async () => {
  const hostBudgets = {
    waiting: () => 1,
    turn: (_: unknown, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
  };
  const checked = { account: 'a', baseUrl: 'http://127.0.0.1:1/v1', partnerKey: 'k' };
  const deps = { lookup: createHostLookup(), timeoutMs: 50, now: Date.now, hostBudgets };
  expect(await checkKey(deps, checked)).toEqual({
    ok: false,
    detail: expect.stringContaining('PARTNER_TOTAL_RPS') as string,
  });
});
