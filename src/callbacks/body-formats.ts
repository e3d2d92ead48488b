import type { LogEntry } from '../events/event-log.ts';
import { parseExactly } from '../json/parse-exactly.ts';
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
 * Writes an event in the format of a subscription. A standard, full body is the log's. Messages for people
 * link to the page where its address is known.
 */
export function formatBody(
  subscription: {
    readonly account: string;
    readonly format: CallbackFormat;
    readonly payload: CallbackPayload;
    readonly publicUrl?: string | null;
  },
  entry: Pick<LogEntry, 'id' | 'filingId' | 'body'>,
): CallbackBody {
  const { format, payload, publicUrl = null } = subscription;
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
      return json('application/json', toSlackMessage(toMessage(event, publicUrl)));
    case 'teams':
      return json('application/json', toTeamsMessage(toMessage(event, publicUrl)));
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
