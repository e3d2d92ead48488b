import { expect, it } from 'vitest';
import { toMessage } from '../../../../src/callbacks/messages/message.ts';
import { withLink } from '../../../support/with-link.ts';

const at = '2026-11-21T10:00:03.120Z';
const messageOf = (type: string, data: object, publicUrl: string | null = null) =>
  toMessage(withLink({ type, timestamp: at, data: { account: 'acme', ...data } }, publicUrl));

const filing = (status: string, more: object = {}) => ({
  filingId: 'f 1',
  status,
  previousStatus: null,
  changed: ['status'],
  filing: { insuredsName: ' Later LLC ', policyNumber: 'SL-2', premium: 1200.5 },
  ...more,
});

const noted = (note: object) => ({
  filingId: 'f 1',
  status: 'REJECTED',
  previousStatus: 'REJECTED',
  changed: [],
  rejectionReason: 'Affidavit is not signed',
  note: { by: 'Dana', text: null, assignee: null, ...note },
  omitted: 'not_kept',
  details: { insuredsName: 'Later LLC', policyNumber: 'SL-2', stateAbbr: 'TX', premium: 1200.5 },
});

it.each<[string, object, string]>([
  ['filing.created', filing('REJECTED'), 'Rejected (new filing)'],
  ['filing.created', filing('UNPAID'), 'Unpaid (new filing)'],
  ['filing.restored', filing('REJECTED', { changed: [] }), 'Rejected (known to the service again)'],
  ['filing.removed', filing('PENDING', { changed: [] }), 'Removed (was Pending)'],
  ['filing.reopened', filing('PENDING'), 'Reopened (Pending)'],
  ['filing.snapshot', filing('REJECTED', { changed: [] }), 'Rejected (as it stands)'],
  [
    'filing.stalled',
    filing('PENDING', { changed: [], stalled: { since: '2026-11-11T10:00:02.480Z' } }),
    'Pending for 10 days',
  ],
  [
    'filing.stalled',
    filing('REJECTED', { changed: [], stalled: { since: '2026-11-21T06:00:02.480Z' } }),
    'Rejected for 4 hours',
  ],
  ['filing.stalled', filing('PENDING', { changed: [] }), 'Pending for too long'],
  ['filing.resubmitted', filing('REJECTED', { changed: [], answeredBy: 'f_2' }), 'Resubmitted'],
  [
    'filing.resubmitted',
    filing('REJECTED', { changed: [], answeredBy: null }),
    'Rejected (no filing answers it any more)',
  ],
  ['filing.due', filing('REJECTED', { dueAt: '2026-11-28T10:00:00.000Z' }), 'Rejected, due in 7 days'],
  ['filing.due', filing('REJECTED', { dueAt: '2026-11-22T09:59:50.000Z' }), 'Rejected, due in 1 day'],
  ['filing.due', filing('REJECTED', { dueAt: '2026-11-21T10:00:10.000Z' }), 'Rejected, due in 1 minute'],
  ['filing.due', filing('REJECTED'), 'Rejected, due soon'],
  ['filing.due', filing('PENDING', { dueAt: '2026-11-21T00:00:00.000Z' }), 'Pending, overdue'],
  ['filing.noted', noted({ kind: 'seen' }), 'Seen by Dana'],
  ['filing.noted', noted({ kind: 'undone' }), 'Not seen after all: Dana'],
  ['filing.noted', noted({ kind: 'note', text: 'asked' }), 'Note by Dana'],
  ['filing.noted', noted({ kind: 'assigned', assignee: 'Lee' }), 'Assigned to Lee by Dana'],
  ['filing.noted', noted({ kind: 'assigned' }), 'Assigned to nobody by Dana'],
  ['filing.rejected', filing('REJECTED'), 'Rejected'],
  ['filing.rejected', filing('REJECTED', { changed: ['rejectionReason'] }), 'Rejected (the reason changed)'],
  ['filing.completed', filing('COMPLETED', { changed: ['completedAt'] }), 'Completed (again)'],
  ['filing.status_changed', filing('ON_HOLD'), 'ON_HOLD'],
  ['filing.later', { filingId: 'f' }, 'filing.later'],
  ['account.auth_failed', {}, 'The partner service refuses the key'],
  ['account.doubtful', {}, 'Changes are held back'],
  ['account.stale', {}, 'The filings can no longer be read'],
  ['account.recovered', {}, 'The filings are read again'],
  ['account.certificate_expiring', { subscription: 's' }, 'A certificate is about to expire'],
  ['account.certificate_expiring', { subscription: 's', expired: true }, 'A certificate has expired'],
  ['subscription.disabled', { subscription: 's' }, 'Subscription disabled'],
  ['subscription.recovered', { subscription: 's' }, 'Subscription enabled again'],
  ['subscription.fell_behind', { subscription: 's' }, 'Subscription has lost events'],
  ['ping', { subscription: 's' }, 'Test: messages arrive'],
  ['account.digest', { counts: { open: 1 } }, 'Digest: 1 rejection'],
  ['account.digest', {}, 'Digest: 0 rejections'],
  ['account.later', {}, 'account.later'],
])('%s with %j is said to be: %s', (type, data, outcome) => {
  expect(messageOf(type, data).outcome).toBe(outcome);
});

it.each<[string, object, string[]]>([
  ['before the date', filing('REJECTED', { dueAt: '2026-11-28T00:00:00.000Z' }), ['due 2026-11-28']],
  ['after it', filing('PENDING', { dueAt: '2026-11-01T00:00:00.000Z' }), ['overdue since 2026-11-01']],
  [
    'and that nobody has seen it',
    filing('REJECTED', { dueAt: '2026-11-28T00:00:00.000Z', due: { seen: false } }),
    ['due 2026-11-28', 'seen by nobody'],
  ],
  ['of nothing that is completed', filing('COMPLETED', { dueAt: '2026-11-28T00:00:00.000Z' }), []],
  ['of nothing without a date', filing('REJECTED', { dueAt: null }), []],
])('says when a filing is due, %s', (_, data, expected) => {
  expect(messageOf('filing.due', data).facts.slice(2)).toEqual(expected);
});

it('names insured, policy, state and premium, or else the id', () => {
  expect(messageOf('filing.paid', filing('PAID')).subject).toEqual(['Later LLC', 'policy SL-2', '$1,200.50']);
  const unnamed = { filing: { insuredsName: 7, policyNumber: ['x'], filingState: 'TX', premium: '1' } };
  expect(messageOf('filing.paid', filing('PAID', unnamed)).subject).toEqual(['filing f 1']);
  expect(messageOf('filing.removed', filing('PAID', { filing: null })).subject).toEqual(['filing f 1']);
  expect(messageOf('account.stale', { lastError: 'timeout' })).toMatchObject({
    subject: ['account acme'],
    reason: 'timeout',
    facts: ['account.stale'],
  });
  const fellBehind = { subscription: 's', endpoint: 'https://a.example', events: 3 };
  expect(messageOf('subscription.fell_behind', fellBehind).subject).toEqual([
    'https://a.example',
    '3 events',
  ]);
});

it('says since when a filing has stayed, and what the limit is', () => {
  const stalled = { status: 'PENDING', since: '2026-11-11T10:00:02.480Z', after: 'P10D' };
  const { facts } = messageOf('filing.stalled', filing('PENDING', { previousStatus: 'PENDING', stalled }));
  expect(facts).toEqual(['account acme', 'f 1', 'since 2026-11-11 10:00 UTC', 'limit P10D']);
});

it('says of a stay in REJECTED that nobody has seen it', () => {
  const stalled = { status: 'REJECTED', since: '2026-11-11T10:00:02.480Z', after: 'PT4H' };
  const factsOf = (seen: boolean) =>
    messageOf('filing.stalled', filing('REJECTED', { stalled: { ...stalled, seen } })).facts;
  expect(factsOf(false).at(-1)).toBe('nobody has seen it');
  expect(factsOf(true).at(-1)).toBe('limit PT4H');
});

it('gives the text of a note in place of the reason, and names the filing by what is kept', () => {
  expect(messageOf('filing.noted', noted({ kind: 'note', text: 'asked' }))).toMatchObject({
    reason: 'asked',
    tone: 'plain',
    subject: ['Later LLC', 'policy SL-2', 'TX', '$1,200.50'],
  });
});

it('leads to the page on which a person takes a rejection', () => {
  const url = 'https://a.example/hooks';
  const takeOf = (type: string, data: object, publicUrl: string | null = url) =>
    messageOf(type, data, publicUrl).take;
  expect(takeOf('filing.rejected', filing('REJECTED'))).toBe(`${url}/#/accounts/acme/filing/f%201?take=1`);
  expect(takeOf('filing.rejected', filing('REJECTED'), null)).toBeNull();
  expect(takeOf('filing.paid', filing('PAID'))).toBeNull();
  expect(takeOf('filing.noted', noted({ kind: 'seen' }))).toBeNull();
});

it('links to the page of the filing, the subscription or the account', () => {
  const url = 'https://a.example/hooks';
  expect(messageOf('filing.paid', filing('PAID'), url).link).toBe(`${url}/#/accounts/acme/filing/f%201`);
  // The subscription may be gone: it is tested before it is saved.
  const ping = messageOf('ping', { subscription: 's', description: 'Claims desk' }, url);
  expect(ping).toMatchObject({ link: `${url}/#/accounts/acme`, subject: ['account acme', 'Claims desk'] });
  expect(messageOf('account.stale', {}, url).link).toBe(`${url}/#/accounts/acme`);
  expect(messageOf('account.stale', {}).link).toBeNull();
  expect(messageOf('filing.paid', { filingId: 'x'.repeat(4_000) }, url).link).toBeNull();
});

it('says which filing answers a rejection, by the details where the filing is not there', () => {
  const details = { insuredsName: 'Later LLC', policyNumber: 'SL-2', stateAbbr: 'TX', premium: 1200.5 };
  const answered = { changed: [], answeredBy: 'f_2', filing: undefined, details };
  expect(messageOf('filing.resubmitted', filing('REJECTED', answered))).toMatchObject({
    tone: 'plain',
    subject: ['Later LLC', 'policy SL-2', 'TX', '$1,200.50'],
    facts: ['account acme', 'f 1', 'answered by f_2'],
  });
});
