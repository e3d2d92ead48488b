import { beforeAll, describe, expect, test } from 'vitest';
import { loggedEventTypes } from '../../src/events/event-types.ts';
import { setStage } from './stage.ts';
import type { WatchedPage } from './watched-page.ts';

const stage = setStage();
const changes = '#/accounts/default/changes';

beforeAll(async () => {
  await stage.settle('f_life', { status: 'UNPAID', insuredsName: 'Long Life Ltd.', policyNumber: 'SL-1' });
  await stage.settle('f_life', { status: 'PENDING' });
  await stage.settle('f_life', { status: 'REJECTED', rejectionReason: 'Premium differs' });
});

function entries({ page }: WatchedPage) {
  return page.getByRole('list', { name: 'Changes, newest first' }).getByRole('listitem');
}

describe('changes', () => {
  test('finds by words in any order and by type', async () => {
    await using tab = await stage.visit(changes);
    await entries(tab).first().waitFor();
    await tab.page.getByLabel('Contains').fill('differs LIFE');
    await expect.poll(() => entries(tab).count()).toBe(1);
    await tab.page.getByLabel('Contains').fill('');
    const offered = await tab.page.getByLabel('Type').getByRole('option').allInnerTexts();
    expect(offered).toEqual(['All types', ...loggedEventTypes]);
    await tab.page.getByLabel('Type').selectOption('filing.pending');
    await expect.poll(() => entries(tab).count()).toBe(1);
    await tab.page.getByLabel('Contains').fill('no such thing');
    await tab.page.getByText('No change matches these filters').waitFor();
    expect(tab.problems).toEqual([]);
  });

  test('holds still while paused and shows what came meanwhile when it goes on', async () => {
    await using tab = await stage.visit(changes);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await tab.page.getByRole('button', { name: 'Pause' }).click();
    await stage.settle('f_quiet', { status: 'PAID' });
    const button = tab.page.getByRole('button', { name: 'Resume (1 waiting)' });
    await button.waitFor();
    expect(await tab.page.getByText('f_quiet').count()).toBe(0);
    await button.click();
    await entries(tab).first().getByText('PAID').waitFor();
  });

  test('takes up where it was when the daemon comes back', async () => {
    await using tab = await stage.visit(changes);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await stage.restartDaemon(async () => {
      await stage.sandbox.set('f_gone', { status: 'PAID', insuredsName: 'While You Were Away' });
      await tab.page.getByText('The daemon does not answer.').waitFor();
    });
    await expect
      .poll(() => entries(tab).getByText('While You Were Away').count(), { timeout: 20_000 })
      .toBe(1);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await tab.page.getByText('The daemon does not answer.').waitFor({ state: 'detached' });
    expect(tab.problems).toEqual([]);
  });

  test('asks for nothing while nobody sees the page, and misses nothing', async () => {
    await using tab = await stage.open();
    await tab.page.clock.install();
    await tab.signIn();
    await tab.show(changes);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await tab.page.evaluate(`void (() => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    })()`);
    const asked: string[] = [];
    tab.page.on('request', (request) => void asked.push(request.url()));
    await tab.page.clock.runFor(60_000);
    await stage.settle('f_unseen', { status: 'PAID', insuredsName: 'Behind The Scenes Co.' });
    expect(asked.filter((url) => url.includes('/events?'))).toEqual([]);
    await tab.page.evaluate(`void (() => {
      delete document.hidden;
      document.dispatchEvent(new Event('visibilitychange'));
    })()`);
    await expect.poll(() => entries(tab).getByText('Behind The Scenes Co.').count()).toBe(1);
    expect(tab.problems).toEqual([]);
  });

  test('a filing too large for its event is shown by its id, and its timeline says that it was left out', async () => {
    const large = { insuredsName: 'Very Large Corp.', userNotes: 'x'.repeat(300_000) };
    await stage.settle('f_large', { status: 'PAID', ...large });
    await using tab = await stage.visit(changes);
    await entries(tab).first().getByRole('link', { name: 'f_large' }).click();
    await tab.page.getByRole('heading', { name: 'Very Large Corp.', level: 1 }).waitFor();
    await tab.page.locator('.timeline').getByText('Sent without the filing').waitFor();
    expect(tab.problems).toEqual([]);
  });
});

test('of a long log the latest is shown, older ones when asked for, and each that comes from then on', async () => {
  await stage.sandbox.seed(320);
  const total = async () => {
    const { counts } = await stage.daemon.api.ok<{ counts: Record<string, number> }>(
      'GET',
      '/v1/accounts/default',
    );
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  };
  await expect.poll(total, { timeout: 20_000 }).toBeGreaterThan(320);
  await stage.settle('f_last', { status: 'PAID', insuredsName: 'Last Of Many' });
  await using tab = await stage.visit(changes);
  await entries(tab).first().getByText('Last Of Many').waitFor();
  await tab.page.getByText('Live', { exact: true }).waitFor();
  expect(await entries(tab).count()).toBe(100);
  await stage.settle('f_late', { status: 'PAID', insuredsName: 'Late Comers' });
  await entries(tab).first().getByText('Late Comers').waitFor();
  await tab.page.getByRole('button', { name: 'Show older changes' }).click();
  await expect.poll(() => entries(tab).count()).toBe(201);
  expect(await entries(tab).getByText('Last Of Many').count()).toBe(1);
  await tab.page.route('**/events?order=newest*', (route) => route.abort());
  await tab.page.getByRole('button', { name: 'Show older changes' }).click();
  await tab.page.getByText('Could not read older changes.').waitFor();
  await tab.page.unrouteAll();
  const older = tab.page.getByRole('button', { name: 'Show older changes' });
  while ((await older.count()) > 0) {
    const before = await entries(tab).count();
    await older.click();
    await expect.poll(() => entries(tab).count()).toBeGreaterThan(before);
  }
  await expect.poll(() => entries(tab).last().innerText()).toContain('new → UNPAID');
  expect(tab.problems).toEqual([]);
});
