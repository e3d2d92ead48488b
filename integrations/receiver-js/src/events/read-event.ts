import { CallbackError } from '../errors.ts';
import type { AnyEvent } from './event.ts';

/** The `format` of a subscription that made a body. */
export type EventFormat = 'standard' | 'cloudevents';

/**
 * The event of a verified body, of the format `standard` or `cloudevents` (structured JSON). The body itself says which: the content type is not
 * signed. Throws CallbackError for every other body.
 */
export function readEvent(body: Uint8Array): { event: AnyEvent; format: EventFormat } {
  const value = parse(body);
  if (!isRecord(value)) throw malformed('is no object');
  const format = 'specversion' in value ? 'cloudevents' : 'standard';
  const { type, data } = value;
  const timestamp = format === 'cloudevents' ? value['time'] : value['timestamp'];
  if (typeof type !== 'string' || typeof timestamp !== 'string' || !isRecord(data))
    throw malformed(
      'has no type, timestamp and data: set format of the subscription to standard or cloudevents',
    );
  return { event: { type, timestamp, data }, format };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw malformed('is no JSON');
  }
}

function malformed(what: string): CallbackError {
  return new CallbackError('malformed_body', `The body ${what}.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
