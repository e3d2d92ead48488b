import type { LogEntry } from '../events/event-log.ts';
import { createBodyMemo } from '../events/body-memo.ts';
import { toEmail } from './messages/email.ts';
import { toMessage, type EventBody } from './messages/message.ts';
import { toSlackMessage } from './messages/slack.ts';
import { toTeamsMessage } from './messages/teams.ts';
import type { CallbackFormat, CallbackPayload } from '../subscriptions/subscription.ts';

/** The body of a callback: the same bytes on every attempt and replay. */
export interface CallbackBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Writes an event in the format of a subscription. A standard, full body is the log's.
 */
export function formatBody(
  subscription: {
    readonly account: string;
    readonly format: CallbackFormat;
    readonly payload: CallbackPayload;
  },
  entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>,
): CallbackBody {
  const { format, payload } = subscription;
  const bytes = payload === 'thin' ? splitBody(entry.body).withoutFiling : entry.body;
  switch (format) {
    case 'standard':
      return { contentType: 'application/json', bytes };
    case 'cloudevents':
      return {
        contentType: 'application/cloudevents+json',
        bytes: toCloudEvent(subscription.account, entry, bytes),
      };
    case 'slack':
      return json(toSlackMessage(toMessage(shownOf(bytes))));
    case 'teams':
      return json(toTeamsMessage(toMessage(shownOf(bytes))));
    case 'email':
      return json(toEmail(toMessage(shownOf(bytes))));
  }
}

function json(value: unknown): CallbackBody {
  return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

const filingMember = ',"filing":';
const dataMember = ',"data":';

/**
 * A body without its filing, and the filing. The filing is the last member of `data`, which is the last of
 * the body (`events/event.ts`). No other member before it has this name, and quotes in texts are escaped: so
 * it is found without parsing, however large it is.
 */
function splitBody(body: Buffer): { readonly withoutFiling: Buffer; readonly filing: Buffer | null } {
  const at = body.indexOf(filingMember);
  if (at < 0) return { withoutFiling: body, filing: null };
  return {
    withoutFiling: Buffer.concat([body.subarray(0, at), Buffer.from('}}')]),
    filing: body.subarray(at + filingMember.length, body.length - 2),
  };
}

// The fields of a filing that messages show, and the maximum characters of their values as JSON.
const shownFields = ['policyNumber', 'insuredsName', 'filingState', 'premium'];
const shownMax = 8 * 1024;

// An event as far as messages show it.
const shownOf = createBodyMemo((body): EventBody => {
  const { withoutFiling, filing } = splitBody(body);
  const event = JSON.parse(withoutFiling.toString()) as EventBody;
  if (filing === null) return event;
  const whole = JSON.parse(filing.toString()) as Readonly<Record<string, unknown>> | null;
  const shown = shownFields.flatMap((name) => {
    const value = whole?.[name];
    return value === undefined || JSON.stringify(value).length > shownMax ? [] : [[name, value] as const];
  });
  return { ...event, data: { ...event.data, filing: whole && Object.fromEntries(shown) } };
});

// CloudEvents 1.0, JSON event format, structured mode. Its `data` is that of the body, byte for byte.
function toCloudEvent(account: string, entry: Pick<LogEntry, 'id' | 'filingId'>, body: Buffer): Buffer {
  const at = body.indexOf(dataMember);
  const event = JSON.parse(`${body.toString('utf8', 0, at)}}`) as Omit<EventBody, 'data'>;
  const context = {
    specversion: '1.0',
    id: entry.id,
    source: `/accounts/${encodeURIComponent(account)}`,
    type: event.type,
    ...(entry.filingId === '' ? {} : { subject: entry.filingId }),
    time: event.timestamp,
    datacontenttype: 'application/json',
  };
  return Buffer.concat([Buffer.from(JSON.stringify(context).slice(0, -1)), body.subarray(at)]);
}
