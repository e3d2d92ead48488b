import type { KnownBlock } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { toMessage, type EventBody } from '../../../../src/callbacks/messages/message.ts';
import { toSlackMessage } from '../../../../src/callbacks/messages/slack.ts';
import { withLink } from '../../../support/with-link.ts';

const timestamp = '2026-11-21T10:00:03.120Z';
const slackOf = (body: Omit<EventBody, 'timestamp'>, publicUrl: string | null = null) => {
  const { text, blocks } = toSlackMessage(toMessage(withLink({ ...body, timestamp }, publicUrl)));
  return { text, blocks: blocks as unknown as KnownBlock[] };
};
const slackText = (body: Omit<EventBody, 'timestamp'>) => slackOf(body).text;

const rejected = {
  type: 'filing.rejected',
  data: {
    account: 'default',
    filingId: 'f_later',
    status: 'REJECTED',
    previousStatus: 'PENDING',
    rejectionReason: 'Affidavit is not <signed>\nsee page 2',
    changed: ['status', 'rejectionReason'],
    filing: {
      insuredsName: 'Later LLC',
      policyNumber: 'SL-2',
      premium: 1200,
      filingState: { stateAbbr: 'TX' },
    },
  },
};

it('is a headline, the reason as a quotation, where and when, and a button', () => {
  const { text, blocks } = slackOf(rejected, 'https://filings.example.com');
  const reason = '> Affidavit is not &lt;signed&gt;\n> see page 2';
  expect(text).toBe(`*Rejected:* Later LLC · policy SL-2 · TX · $1,200\n${reason}`);
  const mrkdwn = (part: string) => ({ type: 'mrkdwn', text: part, verbatim: true });
  const expected: KnownBlock[] = [
    { type: 'section', text: { type: 'mrkdwn', text: text.split('\n')[0] ?? '', verbatim: true } },
    { type: 'section', text: { type: 'mrkdwn', text: reason, verbatim: true } },
    {
      type: 'context',
      elements: [
        {
          type: 'mrkdwn',
          text: 'account default · f_later · was PENDING · <!date^1795255203^{date_short_pretty} {time}|2026-11-21 10:00 UTC>',
          verbatim: true,
        },
      ],
    },
    {
      type: 'actions',
      elements: [
        {
          type: 'button',
          action_id: 'open',
          text: { type: 'plain_text', text: 'Open' },
          url: 'https://filings.example.com/#/accounts/default/filing/f_later',
        },
        {
          type: 'button',
          action_id: 'take',
          text: { type: 'plain_text', text: 'Take it' },
          url: 'https://filings.example.com/#/accounts/default/filing/f_later?take=1',
        },
      ],
    },
  ];
  expect(blocks).toEqual(expected);
  expect(blocks[0]).toEqual({ type: 'section', text: mrkdwn(text.split('\n')[0] ?? '') });
});

it('has no button where the address of the page is not known', () => {
  expect(slackOf(rejected).blocks.map(({ type }) => type)).toEqual(['section', 'section', 'context']);
});

describe('what others wrote into a Slack message', () => {
  const inMessage = (insuredsName: string, rejectionReason = '') =>
    slackText({
      type: 'filing.rejected',
      data: {
        filingId: 'f',
        status: 'REJECTED',
        changed: ['status'],
        rejectionReason,
        filing: { insuredsName, policyNumber: 'P_1_2' },
      },
    });
  const lineOf = (name: string) => `*Rejected:* ${name} · policy P_1_2`;

  it.each(['\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'])(
    'begins no line of its own by %j, and no unquoted one in the reason',
    (lineBreak) => {
      expect(inMessage(`A${lineBreak}*filing.completed* fake`)).toBe(lineOf('A ∗filing.completed∗ fake'));
      expect(inMessage('A', `no${lineBreak}filing.completed`)).toBe(
        `${lineOf('A')}\n> no\n> filing.completed`,
      );
    },
  );

  it.each([
    [
      '<!channel> <@U1> <http://evil.example|here>',
      '&lt;!channel&gt; &lt;@U1&gt; &lt;http:\u200b//evil.example|here&gt;',
    ],
    ['see https://evil.example/x', 'see https:\u200b//evil.example/x'],
    ['*b* _i_ ~s~ `c` ```', '∗b∗ ＿i＿ ∼s∼ ˋcˋ ˋˋˋ'],
    ['O_NEILL & Sons', 'O_NEILL &amp; Sons'],
    [':white_check_mark: done', ':\u200bwhite_check_mark: done'],
    ['A\u202etxt\u0000\u001b[31m', 'Atxt[31m'],
  ])('marks up nothing by %j', (name, shown) => {
    expect(inMessage(name)).toBe(lineOf(shown));
    expect(inMessage('A', name).split('\n')[1]).toBe(`> ${shown}`);
  });
});

it.each(['&', '<!channel>', 'a', '\u{1f600}', '\n', '\ud800'])(
  'fits into the limits of Slack, whatever is in it: %j',
  (sign) => {
    const long = sign.repeat(50_000);
    const { text, blocks } = slackOf(
      {
        ...rejected,
        data: {
          ...rejected.data,
          account: long,
          filingId: long,
          rejectionReason: long,
          filing: { insuredsName: long, policyNumber: long, filingState: { stateAbbr: long } },
        },
      },
      'https://filings.example.com',
    );
    expect(text.length).toBeLessThan(6_000);
    const texts = [...JSON.stringify(blocks).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)];
    const lengths = texts.map(([, quoted = '""']) => (JSON.parse(quoted) as string).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(3_000);
    expect(JSON.stringify(blocks)).not.toMatch(/<!channel>|&[a-z]{0,3}…/);
    expect(JSON.stringify({ text, blocks }).isWellFormed()).toBe(true);
  },
);
