import type { Message, MessageItem } from './message.ts';
import { linesOf, oneLine, timeText } from './words.ts';
import { cutText } from '../../json/cut-text.ts';

/** An e-mail without its addresses: a subject on one line, and a body in plain text and in HTML. */
export interface Email {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

// Maximum characters of one part of the headline, of the subject, of a reason and of its lines.
const partMax = 200;
const subjectMax = 250;
const reasonMax = 10_000;
const lineMax = 1_000;

const colours = { good: '#1a7f37', bad: '#b42318', warn: '#9a6700', plain: '#1f2328' } as const;

/** An event as an e-mail. Text of others is escaped in HTML, and stays on its lines. */
export function toEmail({ outcome, tone, subject, reason, items, facts, at, link }: Message): Email {
  const headline = oneLine(outcome, partMax);
  const about = joined(subject);
  const quoted =
    reason === '' ? [] : linesOf(cutText(reason, reasonMax)).map((line) => oneLine(line, lineMax));
  const shown = joined([...facts, timeText(at)]);
  const text = [
    `${headline}: ${about}`,
    ...(quoted.length === 0 ? [] : [quoted.map((line) => `> ${line}`).join('\n')]),
    ...(items.length === 0 ? [] : [items.map((item) => `- ${joined(item.text)}`).join('\n')]),
    shown,
    ...(link === null ? [] : [`Open: ${link}`]),
  ];
  const html = [
    `<p style="font-size:16px"><strong style="color:${colours[tone]}">${escapeHtml(headline)}:</strong> ${escapeHtml(about)}</p>`,
    ...(quoted.length === 0 ? [] : [quoteHtml(quoted)]),
    ...(items.length === 0 ? [] : [`<ul>${items.map(itemHtml).join('')}</ul>`]),
    `<p style="color:#59636e;font-size:13px">${escapeHtml(shown)}</p>`,
    ...(link === null ? [] : [`<p><a href="${escapeHtml(link)}">Open</a></p>`]),
  ];
  return {
    subject: oneLine(`${headline}: ${about}`, subjectMax),
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif">${html.join('\n')}</body></html>\n`,
  };
}

function joined(parts: readonly string[]): string {
  return parts.map((part) => oneLine(part, partMax)).join(' · ');
}

function itemHtml({ text, link }: MessageItem): string {
  const line = escapeHtml(joined(text));
  return `<li>${link === null ? line : `<a href="${escapeHtml(link)}">${line}</a>`}</li>`;
}

function quoteHtml(lines: readonly string[]): string {
  const shown = lines.map(escapeHtml).join('<br>');
  return `<blockquote style="border-left:3px solid #d1d9e0;margin:0;padding-left:12px">${shown}</blockquote>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
