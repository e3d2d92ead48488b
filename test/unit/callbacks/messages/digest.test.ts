import { expect, test } from 'vitest';
import { toEmail } from '../../../../src/callbacks/messages/email.ts';
import { toMessage } from '../../../../src/callbacks/messages/message.ts';
import { toSlackMessage } from '../../../../src/callbacks/messages/slack.ts';
import { toTeamsMessage } from '../../../../src/callbacks/messages/teams.ts';

const rejection = (n: number) => ({
  filingId: `f ${n}`,
  policyNumber: n === 2 ? null : `SL-${n}`,
  insuredsName: n === 2 ? null : '<b>Later</b> & *Sons*',
  stateAbbr: 'TX',
  rejectionReason: 'Affidavit is\nnot signed',
  since: '2026-11-20T14:00:00.000Z',
  dueAt: n === 2 ? null : '2026-11-22T00:00:00.000Z',
  seen: false,
});
const digestOf = (count: number, counts: object) =>
  toMessage({
    type: 'account.digest',
    timestamp: '2026-11-23T14:00:02.480Z',
    data: {
      account: 'acme',
      url: 'https://filings.example.com/#/accounts/acme',
      date: '2026-11-23',
      counts: { open: count, ...counts },
      rejections: Array.from({ length: count }, (_, i) => rejection(i + 1)),
    },
  });

test('says how many there are of what, and leaves out what there is none of', () => {
  expect(digestOf(2, { new: 1, unseen: 0, failingEndpoints: 3 })).toMatchObject({
    outcome: 'Digest: 2 rejections',
    tone: 'warn',
    subject: ['account acme', '1 new', '3 endpoints fail'],
    facts: ['2026-11-23'],
    link: 'https://filings.example.com/#/accounts/acme',
  });
  expect(digestOf(0, {})).toMatchObject({ outcome: 'Digest: 0 rejections', tone: 'good', items: [] });
});

test('is in red where something is overdue', () => {
  expect(digestOf(1, { overdue: 1 })).toMatchObject({ tone: 'bad', subject: ['account acme', '1 overdue'] });
});

test('lists the rejections by name, or else by id, each with its page', () => {
  const since = 'since 2026-11-20 14:00 UTC';
  expect(digestOf(2, {}).items).toEqual([
    {
      text: [
        '<b>Later</b> & *Sons*',
        'policy SL-1',
        'TX',
        since,
        'overdue since 2026-11-22',
        'Affidavit is\nnot signed',
      ],
      link: 'https://filings.example.com/#/accounts/acme/filing/f%201',
    },
    {
      text: ['filing f 2', 'TX', since, 'Affidavit is\nnot signed'],
      link: 'https://filings.example.com/#/accounts/acme/filing/f%202',
    },
  ]);
});

test('shows all of them in an e-mail, escaped', () => {
  const { text, html } = toEmail(digestOf(50, {}));
  expect(text.match(/^- /gm)).toHaveLength(50);
  expect(text).toContain(
    '- <b>Later</b> & *Sons* · policy SL-1 · TX · since 2026-11-20 14:00 UTC · overdue since 2026-11-22 · Affidavit is not signed\n',
  );
  expect(html.match(/<li><a href="https:/g)).toHaveLength(50);
  expect(html).toContain('&lt;b&gt;Later&lt;/b&gt; &amp; *Sons*');
});

test('shows the first twenty in Slack and Teams, and how many more there are', () => {
  const { blocks } = toSlackMessage(digestOf(50, {}));
  expect(blocks.length).toBeLessThanOrEqual(50);
  const texts = blocks.map((block) => (block as { text?: { text: string } }).text?.text ?? '');
  expect(texts.filter((text) => text.startsWith('• &lt;b&gt;Later&lt;/b&gt; &amp; ∗Sons∗'))).toHaveLength(19);
  expect(texts).toContain('… 30 more');
  const [card] = toTeamsMessage(digestOf(50, {})).attachments;
  const lines = JSON.stringify(card).match(/"text":"• /g);
  expect(lines).toHaveLength(20);
  expect(JSON.stringify(card)).toContain('… 30 more');
  expect(JSON.stringify(card).length).toBeLessThan(28_000);
});
