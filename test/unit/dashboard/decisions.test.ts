import { describe, expect, test } from 'vitest';
import { folded } from '../../../src/words/folded.ts';
import { outcomeKinds } from '../../../src/callbacks/outcome.ts';

// The page's files are JavaScript with types of their own, which the compiler of this project does not read.
const file = (name: string): Promise<Record<string, (...args: unknown[]) => unknown>> =>
  import(new URL(`../../../src/dashboard/public/${name}`, import.meta.url).href);

const attempt = (outcome: string, at: string, statusCode: number | null = null) => ({
  outcome,
  statusCode,
  at: `2026-11-22T${at}:00Z`,
  durationMs: 5,
});
const now = Date.parse('2026-11-22T15:00:00Z');

describe('outcomes in words', async () => {
  const { outcomes, explain } = await file('deliveries/outcomes.js');

  test.each(Object.keys(outcomeKinds))('%s has a name, a meaning and advice', (code) => {
    const [name, text] = (outcomes as unknown as Record<string, string[]>)[code] ?? [];
    expect(name).toMatch(/^[A-Z]/);
    expect(text).toMatch(/\. .*\.$/);
    expect(explain?.({ outcome: code, statusCode: null })).toBe(text);
  });

  test.each([
    [401, 'signing secret'],
    [404, 'path'],
    [429, 'Retry-After'],
    [418, 'does not accept'],
    [500, 'failed'],
  ])('an error with status %i has advice of its own', (statusCode, part) => {
    expect(explain?.({ outcome: 'http_error', statusCode })).toContain(part);
  });
});

describe('the state of a subscription', async () => {
  const { presentFailure, shownState } = await file('data/delivery-stats.js');

  test('is degraded while it is active and more than a tenth of the attempts of a day failed', () => {
    const failed = Array.from({ length: 2 }, () => attempt('timeout', '14:00'));
    const good = Array.from({ length: 8 }, () => attempt('delivered', '14:00'));
    expect(shownState?.({ state: 'active' }, [...failed, ...good], now)).toBe('degraded');
    expect(shownState?.({ state: 'failing' }, [...failed, ...good], now)).toBe('failing');
    expect(shownState?.({ state: 'active' }, [...good, attempt('delivered', '13:00')], now)).toBe('active');
    expect(shownState?.({ state: 'active' }, failed, now)).toBe('active');
    const tests = good.map((each) => ({ ...each, outcome: 'timeout', eventType: 'ping' }));
    expect(shownState?.({ state: 'active' }, [...tests, ...good], now)).toBe('active');
    expect(presentFailure?.([...tests, ...good])).toBeNull();
    const aDayLater = now + 86_400_000;
    expect(shownState?.({ state: 'active' }, [...failed, ...good], aDayLater)).toBe('active');
  });

  test('has as its cause the failures since the last success', () => {
    const attempts = [
      attempt('aborted', '14:05'),
      attempt('http_error', '14:04', 500),
      attempt('timeout', '14:03'),
      attempt('http_error', '14:02', 500),
      attempt('delivered', '14:01', 200),
      attempt('http_error', '14:00', 500),
    ];
    expect(presentFailure?.(attempts)).toEqual({
      outcome: 'http_error',
      statusCode: 500,
      alike: 2,
      failures: 3,
      isFromTheStart: false,
      since: '2026-11-22T14:02:00Z',
    });
    expect(presentFailure?.(attempts.slice(4))).toBeNull();
    expect(presentFailure?.([])).toBeNull();
  });
});

describe('what a subscription is wanted for', async () => {
  const { coversRejections, followUrl, formatOfUrl, isForPeople, ofWish, wishOf, wishText } =
    await file('data/wishes.js');
  const values = { states: '', filter: '', format: 'standard', from: 'now', url: '' };

  test.each([
    ['rejections', true, 'Gets every rejection of all states, as signed JSON, from now on.'],
    ['completed', false, 'Gets every filing that is completed of all states, as signed JSON, from now on.'],
    ['everything', true, 'Gets every change of every filing of all states, as signed JSON, from now on.'],
  ])('%s is settings that mean it', (wish, covers, text) => {
    const wanted = { ...values, ...(ofWish?.(wish) as object) };
    expect(wishOf?.(wanted)).toBe(wish);
    expect(coversRejections?.(wanted)).toBe(covers);
    expect(wishText?.(wanted)).toBe(text);
  });

  test('other settings are chosen one by one, and named', () => {
    const chosen = {
      ...values,
      wish: 'choose',
      eventTypes: ['filing.paid', 'account.*'],
      statuses: ['PAID'],
    };
    expect(wishOf?.(chosen)).toBe('choose');
    expect(coversRejections?.({ eventTypes: ['filing.*'], statuses: ['PAID'] })).toBe(false);
    expect(wishText?.({ ...chosen, states: 'tx', format: 'slack', from: 'state' })).toBe(
      'Gets filing.paid, account.* after which a filing is PAID, of TX, as Slack messages, first those that are so now, then from now on.',
    );
    expect(wishText?.({ ...chosen, eventTypes: [] })).toContain('nothing');
  });

  test.each([
    ['https://hooks.slack.com/services/T/B/x', 'slack'],
    ['https://prod-1.westus.logic.azure.com:443/workflows/x', 'teams'],
    ['https://acme.webhook.office.com/x', 'teams'],
    ['https://x.environment.api.powerplatform.com/x', 'teams'],
    ['mailto:claims@agency.example', 'email'],
    ['https://hooks.slack.com.example.com/x', null],
    ['not a URL', null],
  ])('the URL %s has the format %s', (url, format) => {
    expect(formatOfUrl?.(url)).toBe(format);
    expect(isForPeople?.({ url, format })).toBe(format !== null);
    const typed = followUrl?.(values, { ...values, url }) as { format: string };
    expect(typed.format).toBe(format ?? 'standard');
    // A choice of the user stands until the host is another one.
    expect(followUrl?.({ ...typed, url }, { ...typed, url, format: 'cloudevents' })).toMatchObject({
      format: 'cloudevents',
    });
  });
});

describe('requests of forms', async () => {
  const requests = await file('data/requests.js');
  const { subscriptionChange: change, isMoved, subscriptionValues: valuesOf } = requests;
  const { accountChange, accountInput, accountValues, registration, replayRequest } = requests;

  const shown = {
    url: 'https://a.example/x',
    description: null,
    eventTypes: ['filing.*'],
    statuses: null,
    states: ['TX'],
    headers: { 'x-team': '***' },
    format: 'standard',
    payload: 'full',
    from: 'now',
  };

  test('a change of a subscription has what differs, and headers only where all are given anew', () => {
    const before = valuesOf?.(shown) as object;
    expect(change?.(before, before)).toEqual({});
    expect(change?.(before, { ...before, states: '', description: ' New ' })).toEqual({
      states: null,
      description: 'New',
    });
    const headers = [
      { name: ' x-team ', value: 'a' },
      { name: '', value: '' },
    ];
    expect(change?.(before, { ...before, headers })).toEqual({ headers: { 'x-team': 'a' } });
    expect(change?.(before, { ...before, headers: [] })).toEqual({ headers: {} });
  });

  test('a mailbox gets e-mail, without the secret, headers and format of an endpoint', () => {
    const values = {
      ...(valuesOf?.(shown) as object),
      url: ' mailto:a@b.example ',
      secret: 's',
      headers: [{ name: 'x', value: 'y' }],
    };
    const body = JSON.parse(JSON.stringify(registration?.(values))) as object;
    expect(body).toMatchObject({ url: 'mailto:a@b.example', format: 'email', payload: 'full' });
    expect(body).not.toHaveProperty('secret');
    expect(body).not.toHaveProperty('headers');
    expect(registration?.({ ...values, url: shown.url, format: 'email' })).toMatchObject({
      format: 'standard',
      secret: 's',
    });
  });

  test.each([
    ['https://a.example/y', false],
    ['http://a.example/x', true],
    ['https://a.example:8443/x', true],
    ['https://', false],
  ])('a URL %s counts as another host: %s', (url, moved) => {
    expect(isMoved?.(shown.url, url)).toBe(moved);
  });

  test('an account keeps its key unless another one is given, and takes days as durations', () => {
    const account = {
      account: 'a',
      baseUrl: 'https://p.example/v1',
      pollIntervalMs: 15_000,
      sweepIntervalMs: 900_000,
      stalledAfter: { PENDING: 'P10D', PAID: 'PT36H' },
      due: { TX: 'P60D', '*': 'PT36H' },
      dueWarnings: ['P7D', 'P0D'],
      digest: { at: '08:00', zone: 'America/Chicago', days: 'daily' },
    };
    const before = accountValues?.(account) as Record<string, unknown>;
    expect(before['stalledAfter']).toEqual({ PENDING: '10', PAID: 'PT36H' });
    expect([before['due'], before['dueWarnings']]).toEqual(['TX 60, * PT36H', '7, 0']);
    expect(accountChange?.(before, before)).toEqual({});
    const after = {
      ...before,
      partnerKey: ' key ',
      pollIntervalMs: '0.5',
      stalledAfter: { PENDING: '', PAID: '2' },
    };
    expect(accountChange?.(before, after)).toEqual({
      partnerKey: 'key',
      pollIntervalMs: 500,
      stalledAfter: { PAID: 'P2D' },
    });
    expect(accountChange?.(before, { ...before, stalledAfter: {} })).toEqual({ stalledAfter: null });
    expect(accountChange?.(before, { ...before, due: 'ny 45,tx: P2W', dueWarnings: '' })).toEqual({
      due: { NY: 'P45D', TX: 'P2W' },
      dueWarnings: [],
    });
    expect(accountChange?.(before, { ...before, due: ' ' })).toEqual({ due: null });
    expect(before).toMatchObject({ digestAt: '08:00', digestZone: 'America/Chicago', digestDays: 'daily' });
    expect(accountChange?.(before, { ...before, digestDays: 'mon, wed' })).toEqual({
      digest: { at: '08:00', zone: 'America/Chicago', days: 'mon,wed' },
    });
    expect(accountChange?.(before, { ...before, digestAt: '' })).toEqual({ digest: null });
    expect(accountInput?.({ ...after, sweepIntervalMs: '', digestAt: '' })).toEqual({
      baseUrl: 'https://p.example/v1',
      partnerKey: 'key',
      pollIntervalMs: 500,
      stalledAfter: { PAID: 'P2D' },
      due: { TX: 'P60D', '*': 'PT36H' },
      dueWarnings: ['P7D', 'P0D'],
    });
  });

  test('a limit for rejections that nobody has seen stays one, and becomes one', () => {
    const account = {
      account: 'a',
      baseUrl: 'https://p.example/v1',
      pollIntervalMs: 15_000,
      sweepIntervalMs: 900_000,
      stalledAfter: { PENDING: 'P10D', REJECTED: { after: 'P2D', unless: 'seen' } },
      due: null,
      dueWarnings: ['P7D', 'P0D'],
    };
    const before = accountValues?.(account) as Record<string, unknown>;
    expect(before).toMatchObject({ stalledAfter: { PENDING: '10', REJECTED: '2' }, unlessSeen: true });
    expect(accountChange?.(before, before)).toEqual({});
    const any = { ...before, unlessSeen: false };
    expect(accountChange?.(before, any)).toEqual({ stalledAfter: { PENDING: 'P10D', REJECTED: 'P2D' } });
    expect(accountChange?.(any, before)).toEqual({ stalledAfter: account.stalledAfter });
  });

  test('a replay has the times of its choice, and nothing that was left empty', () => {
    const none = { which: 'dead', after: '2026-01-01T00:00', before: '', filingId: ' ' };
    expect(replayRequest?.(none, now)).toEqual({ deadLettersOnly: true });
    expect(replayRequest?.({ ...none, which: 'hour', filingId: 'f' }, now)).toEqual({
      deadLettersOnly: false,
      after: '2026-11-22T14:00:00.000Z',
      filingId: 'f',
    });
    const between = { ...none, which: 'between' };
    expect(replayRequest?.(between, now)).toEqual({
      deadLettersOnly: false,
      after: new Date('2026-01-01T00:00').toISOString(),
    });
  });
});

describe('an event of the timeline', async () => {
  const { eventFacts } = await file('data/filing-event.js');
  const factsOf = (type: string, data: object) =>
    eventFacts?.({
      type,
      timestamp: '2026-11-21T10:00:03.120Z',
      data: { status: 'REJECTED', previousStatus: 'REJECTED', changed: [], ...data },
    });
  const since = '2026-11-21T06:00:02.480Z';
  const dueAt = '2026-11-28T10:00:00.000Z';

  test.each([
    ['filing.stalled', { stalled: { since, seen: false } }, 'REJECTED for 4 h, nobody has seen it'],
    ['filing.stalled', { stalled: { since, seen: true } }, 'REJECTED for 4 h'],
    [
      'filing.stalled',
      { status: 'PAID', previousStatus: 'PAID', stalled: { since, seen: false } },
      'PAID for 4 h',
    ],
    ['filing.due', { due: { dueAt, seen: false } }, 'REJECTED, due in 7 d, nobody has seen it'],
    ['filing.due', { due: { dueAt: since, seen: true } }, 'REJECTED, overdue'],
    ['filing.resubmitted', { answeredBy: 'f_2' }, 'Resubmitted'],
    ['filing.resubmitted', { answeredBy: null }, 'No filing answers it any more'],
    ['filing.noted', { note: { by: 'Dana', kind: 'seen' } }, 'Dana has seen it'],
    ['filing.removed', {}, 'No longer known to the partner service, was REJECTED'],
    ['filing.restored', {}, 'REJECTED, known to the partner service again'],
    ['filing.rejected', { changed: ['rejectionReason'] }, 'REJECTED, the reason changed'],
    [
      'filing.completed',
      { status: 'COMPLETED', previousStatus: 'COMPLETED', changed: ['completedAt'] },
      'COMPLETED again',
    ],
  ])('%s with %j says: %s', (type, data, happened) => {
    expect(factsOf(type, data)).toMatchObject({ happened, from: null, to: null });
  });

  test('by which a status was reached says from which', () => {
    expect(factsOf('filing.rejected', { previousStatus: 'PENDING' })).toMatchObject({
      happened: null,
      from: 'PENDING',
      to: 'REJECTED',
    });
  });
});

describe('texts that people compare', async () => {
  const { folded: foldedOnPage, matchesSearch } = await file('data/filing-event.js');

  test('are folded on the page as in the daemon', () => {
    for (const text of [
      'TX',
      'Jose\u0301',
      'İstanbul',
      'STRAẞE',
      'ΟΔΟΣ',
      'oﬃce',
      'Ｔｒｕｃｋ',
      'trans\u00ADport',
      'ǰ',
    ])
      expect(foldedOnPage?.(text)).toBe(folded(text));
  });

  test('find an event in any form', () => {
    const event = { type: 'filing.rejected', data: { filing: { insuredsName: 'Jose\u0301 Núñez' } } };
    expect(matchesSearch?.(event, 'JOSÉ núñez')).toBe(true);
    expect(matchesSearch?.(event, 'jose nunez')).toBe(false);
  });
});
