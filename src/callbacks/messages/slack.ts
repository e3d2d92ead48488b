import type { Message, MessageItem } from './message.ts';
import { linesOf, oneLine, timeText } from './words.ts';
import { cutText } from '../../json/cut-text.ts';

/** A message for an incoming webhook of Slack: blocks, and `text` for notifications and older clients. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly object[];
}

// Maximum characters of one part of the headline, and of a text in a section, which Slack takes up to 3000.
const partMax = 200;
const sectionMax = 2_900;
// Maximum characters and lines of a reason before it is escaped, which makes it at most five times as long.
const reasonMax = 2_000;
const reasonLinesMax = 20;
// Maximum number of single filings; Slack takes 50 blocks.
const itemsMax = 20;

/** An event as a message in Block Kit. Text of others stays on its line, or in its quotation. */
export function toSlackMessage(message: Message): SlackMessage {
  const { outcome, subject, reason, items, facts, at, link, take } = message;
  const headline = `*${escapeMrkdwn(outcome, partMax)}:* ${subject.map((part) => escapeMrkdwn(part, partMax)).join(' · ')}`;
  const quoted = quote(reason);
  const shown = [...facts.map((fact) => escapeMrkdwn(fact, partMax)), localTime(at)];
  const blocks = [
    { type: 'section', text: mrkdwn(bounded(headline)) },
    ...(quoted === '' ? [] : [{ type: 'section', text: mrkdwn(quoted) }]),
    ...items.slice(0, itemsMax).map((item) => ({ type: 'section', text: mrkdwn(bounded(listed(item))) })),
    ...(items.length > itemsMax
      ? [{ type: 'section', text: mrkdwn(`… ${items.length - itemsMax} more`) }]
      : []),
    { type: 'context', elements: [mrkdwn(bounded(shown.join(' · ')))] },
    ...(link === null
      ? []
      : [
          {
            type: 'actions',
            elements: [
              button('open', 'Open', link),
              ...(take === null ? [] : [button('take', 'Take it', take)]),
            ],
          },
        ]),
  ];
  return { text: quoted === '' ? bounded(headline) : `${bounded(headline)}\n${quoted}`, blocks };
}

function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}

function button(id: string, text: string, url: string) {
  return { type: 'button', action_id: id, text: { type: 'plain_text', text }, url };
}

function listed({ text, link }: MessageItem): string {
  const line = text.map((part) => escapeMrkdwn(part, partMax)).join(' · ');
  return link === null ? `• ${line}` : `• ${line} <${link}|Open>`;
}

// Whole lines, as far as they fit.
function quote(reason: string): string {
  if (reason === '') return '';
  const all = linesOf(cutText(reason, reasonMax));
  const lines = all.slice(0, reasonLinesMax);
  const isCut = reason.length > reasonMax || all.length > lines.length;
  let quoted = '';
  for (const line of lines) {
    const next = `${quoted === '' ? '' : `${quoted}\n`}> ${escapeMrkdwn(line, reasonMax)}`;
    if (next.length > sectionMax)
      return quoted === '' ? `> ${bounded(escapeMrkdwn(line, 500))}` : `${quoted}\n> …`;
    quoted = next;
  }
  return isCut ? `${quoted}\n> …` : quoted;
}

// An escape is never cut in two.
function bounded(text: string): string {
  return text.length > sectionMax ? `${cutText(text, sectionMax).replace(/&[a-z]{0,3}$/, '')}…` : text;
}

// Slack shows it in the time zone of its reader.
function localTime(iso: string): string {
  const seconds = Math.floor(Date.parse(iso) / 1000);
  if (!Number.isFinite(seconds)) return '';
  return `<!date^${seconds}^{date_short_pretty} {time}|${timeText(iso)}>`;
}

const zeroWidthSpace = '\u200b';

// Signs that look the same and mark up nothing: Slack has no escape for its own.
const lookAlikes: Readonly<Record<string, string>> = { '*': '∗', '~': '∼', '`': 'ˋ', _: '＿' };

/**
 * Text as Slack shows it: `<!channel>`, links, emphasis and emoji stay the characters that they are. An
 * underscore within a word emphasises nothing and stays.
 */
function escapeMrkdwn(raw: string, max: number): string {
  return oneLine(raw, max)
    .replaceAll(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (sign) => lookAlikes[sign] ?? sign)
    .replaceAll(/:(?=\/\/|[\w+'-]+:)/g, `:${zeroWidthSpace}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
