import type { Message, MessageItem } from './message.ts';
import { linesOf, oneLine, timeText } from './words.ts';

/** A message for a workflow of Microsoft Teams that posts an Adaptive Card. */
export interface TeamsMessage {
  readonly type: 'message';
  readonly attachments: readonly { readonly contentType: string; readonly content: object }[];
}

// Maximum characters of one part of the headline, and characters and number of lines of a reason and of
// single filings: Teams takes 28 KB.
const partMax = 200;
const lineMax = 1_000;
const linesMax = 8;
const itemsMax = 20;
const itemMax = 300;

const colours = { good: 'good', bad: 'attention', warn: 'warning', plain: 'default' } as const;

/**
 * An event as an Adaptive Card. Text of others stands in text runs alone: they have no markup, unlike text
 * blocks.
 */
export function toTeamsMessage(message: Message): TeamsMessage {
  const { outcome, tone, subject, reason, items, facts, at, link, take } = message;
  const headline = oneLine(outcome, partMax);
  const about = subject.map((part) => oneLine(part, partMax)).join(' · ');
  const shown = [...facts.map((fact) => oneLine(fact, partMax)), timeText(at)].join(' · ');
  const content = {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    fallbackText: `${headline}: ${about}`,
    msteams: { width: 'Full' },
    body: [
      richText([
        { ...run(`${headline}: `), weight: 'bolder', size: 'medium', color: colours[tone] },
        { ...run(about), size: 'medium' },
      ]),
      ...(reason === '' ? [] : [quoteOf(reason)]),
      ...items.slice(0, itemsMax).map((item) => richText([listed(item)])),
      ...(items.length > itemsMax ? [richText([run(`… ${items.length - itemsMax} more`)])] : []),
      richText([{ ...run(shown), size: 'small', isSubtle: true }]),
    ],
    ...(link === null
      ? {}
      : { actions: [openUrl('Open', link), ...(take === null ? [] : [openUrl('Take it', take)])] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  };
}

function listed({ text, link }: MessageItem) {
  const line = oneLine(`• ${text.join(' · ')}`, itemMax);
  return link === null ? run(line) : { ...run(line), selectAction: { type: 'Action.OpenUrl', url: link } };
}

function openUrl(title: string, url: string) {
  return { type: 'Action.OpenUrl', title, url };
}

function quoteOf(reason: string) {
  const lines = linesOf(reason);
  const shown = lines.slice(0, linesMax).map((line) => richText([run(oneLine(line, lineMax))]));
  const items = lines.length > linesMax ? [...shown, richText([run('…')])] : shown;
  return { type: 'Container', style: 'emphasis', items };
}

function richText(inlines: readonly object[]) {
  return { type: 'RichTextBlock', inlines };
}

function run(text: string) {
  return { type: 'TextRun', text };
}
