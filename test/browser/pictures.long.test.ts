import { beforeAll, expect, test } from 'vitest';
import { toEmail } from '../../src/callbacks/messages/email.ts';
import { toMessage } from '../../src/callbacks/messages/message.ts';
import { withLink } from '../support/with-link.ts';
import { setStage } from './stage.ts';

// The pictures in docs/dashboard.md: SCREENSHOTS=docs/images npx vitest run test/browser/pictures.long.test.ts
const stage = setStage(20);
const account = '/v1/accounts/default';
const light = { viewport: { width: 1280, height: 640 }, colorScheme: 'light' } as const;
const rejections = [
  ['f_harbor', 'Harbor Bakery LLC', 'SL-2031', 'TX', 'The affidavit is not signed.'],
  ['f_prairie', 'Prairie Logistics Inc.', 'SL-2044', 'FL', 'The premium differs from the declarations page.'],
  ['f_lakeside', 'Lakeside Marina Corp.', 'SL-2052', 'NY', 'The affidavit is not signed.'],
] as const;

beforeAll(async () => {
  await stage.daemon.api.ok('PATCH', account, { due: { '*': 'P45D' } });
  const day = (from: number) => new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);
  for (const [i, [id, insuredsName, policyNumber, stateAbbr, rejectionReason]] of rejections.entries()) {
    const filing = { insuredsName, policyNumber, filingState: { stateAbbr }, premium: 4_200 + 1_350 * i };
    await stage.settle(id, { ...filing, status: 'PENDING', policyEffectiveDate: day(-20 - 15 * i) });
    await stage.settle(id, { ...filing, status: 'REJECTED', rejectionReason });
  }
  await stage.daemon.api.ok('PUT', `${account}/filings/f_prairie/assignee`, {
    by: 'Sam',
    assignee: 'Dana Reyes',
  });
  const note = { by: 'Dana Reyes', note: 'Asked the broker for the page.' };
  await stage.daemon.api.ok('PUT', `${account}/filings/f_prairie/seen`, note);
});

test.each([
  ['board', '#/rejections?account=default&order=newest', 'Asked the broker for the page.'],
  ['filing', '#/accounts/default/filing/f_prairie', 'Asked the broker for the page.'],
  ['form', '#/accounts/default/subscriptions/new', 'What do you want to hear of?'],
])('the %s looks as in the documentation', async (name, hash, words) => {
  await using tab = await stage.open(light);
  await tab.signIn();
  await tab.show(hash);
  await tab.page.getByText(words).first().waitFor();
  // Without a secret of its own, unlike other endpoints.
  if (name === 'form')
    await tab.page.getByLabel('Endpoint URL').fill('https://hooks.slack.com/services/T0/B0/x');
  await tab.picture(name);
  expect(tab.problems).toEqual([]);
});

test('the mail looks as in the documentation', async () => {
  const { items } = await stage.daemon.api.ok<{ items: Parameters<typeof toMessage>[0][] }>(
    'GET',
    `${account}/events?types=filing.rejected&filingId=f_prairie`,
  );
  const [event] = items;
  if (event === undefined) throw new Error('f_prairie has no filing.rejected');
  const { html } = toEmail(toMessage(withLink(event, 'https://filings.example.com')));
  await using tab = await stage.open({ ...light, viewport: { width: 720, height: 240 } });
  await tab.page.setContent(html);
  expect(await tab.page.getByText('The premium differs').count()).toBe(1);
  await tab.picture('mail');
});
