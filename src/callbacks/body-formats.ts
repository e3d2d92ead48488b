import type { LogEntry } from '../events/event-log.ts';
import { parseExactly } from '../json/parse-exactly.ts';
import type { CallbackFormat, CallbackPayload } from '../subscriptions/subscription.ts';

/** The body of a callback: the same bytes on every attempt and replay. */
export interface CallbackBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

interface EventBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Writes an event in the format of a subscription. A standard, full body is the log's. */
export function formatBody(
  subscription: {
    readonly account: string;
    readonly format: CallbackFormat;
    readonly payload: CallbackPayload;
  },
  entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>,
): CallbackBody {
  const { format, payload } = subscription;
  if (format === 'standard' && payload === 'full')
    return { contentType: 'application/json', bytes: entry.body };
  const body = parseExactly(entry.body.toString()) as EventBody;
  const event = payload === 'thin' ? withoutFiling(body) : body;
  switch (format) {
    case 'standard':
      return json('application/json', event);
    case 'cloudevents':
      return json('application/cloudevents+json', toCloudEvent(subscription.account, entry, event));
    case 'slack':
      return json('application/json', toSlackMessage(event));
  }
}

function json(contentType: string, value: unknown): CallbackBody {
  return { contentType, bytes: Buffer.from(JSON.stringify(value)) };
}

function withoutFiling({ data, ...rest }: EventBody): EventBody {
  const { filing: _, ...thin } = data;
  return { ...rest, data: thin };
}

// CloudEvents 1.0, JSON event format, structured mode.
function toCloudEvent(account: string, entry: Pick<LogEntry, 'id' | 'filingId'>, event: EventBody): unknown {
  return {
    specversion: '1.0',
    id: entry.id,
    source: `/accounts/${encodeURIComponent(account)}`,
    type: event.type,
    ...(entry.filingId === '' ? {} : { subject: entry.filingId }),
    time: event.timestamp,
    datacontenttype: 'application/json',
    data: event.data,
  };
}

// Slack's incoming webhooks: `text` in mrkdwn. Text of others stays on its line, or in its quotation,
// and marks up nothing.
function toSlackMessage({ type, data }: EventBody): unknown {
  const [before, after] = [text(data['previousStatus']), text(data['status'])];
  const line = [
    `*${escapeMrkdwn(type)}*`,
    escapeMrkdwn(slackSubject(data)),
    before === '' || before === after ? '' : `(${escapeMrkdwn(`${before} → ${after}`)})`,
  ];
  const reason = text(data['rejectionReason'] ?? data['reason'] ?? data['lastError']);
  const quoted = reason === '' ? [] : reason.split(lineBreak).map((each) => `\n> ${escapeMrkdwn(each)}`);
  return { text: [line.filter((part) => part !== '').join(' '), ...quoted].join('') };
}

// The names by which people know the filing, or else the most specific id of the event.
function slackSubject(data: EventBody['data']): string {
  const filing = (data['filing'] ?? {}) as Record<string, unknown>;
  const named = [text(filing['insuredsName']), text(filing['policyNumber'])].filter((part) => part !== '');
  if (named.length > 0) return named.join(', ');
  const kinds = { filing: data['filingId'], subscription: data['subscription'], account: data['account'] };
  const subject = Object.entries(kinds).find(([, id]) => text(id) !== '');
  return subject === undefined ? '' : `${subject[0]} ${text(subject[1])}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

// Control characters, and those that turn the direction of the text behind them.
const unseen = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const zeroWidthSpace = '\u200b';

// Signs that look the same and mark up nothing: Slack has no escape for its own.
const lookAlikes: Readonly<Record<string, string>> = { '*': '∗', '~': '∼', '`': 'ˋ', _: '＿' };

/**
 * Text as Slack shows it: `<!channel>`, links, emphasis and emoji stay the characters that they are. An
 * underscore within a word emphasises nothing and stays.
 */
function escapeMrkdwn(raw: string): string {
  return raw
    .split(lineBreak)
    .join(' ')
    .replaceAll(unseen, '')
    .replaceAll(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (sign) => lookAlikes[sign] ?? sign)
    .replaceAll(/:(?=\/\/|[\w+'-]+:)/g, `:${zeroWidthSpace}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
