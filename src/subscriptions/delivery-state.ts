import { decodeRecord, parseShaped, UnreadableRecordError } from '../redis/unreadable-record.ts';
import type { Block, DeliveryState } from './subscription.ts';

type NumericField = {
  [Name in keyof DeliveryState]-?: DeliveryState[Name] extends number ? Name : never;
}[keyof DeliveryState];

/**
 * The delivery state from its Redis hash; missing fields have the values of a subscription that was never
 * called. Throws UnreadableRecordError, with the hash's key, when a field cannot be read.
 */
export function parseDeliveryState(fields: Readonly<Record<string, string>>, key = ''): DeliveryState {
  const number = (name: NumericField) => {
    const value = Number(fields[name] ?? 0);
    if (Number.isFinite(value)) return value;
    throw new UnreadableRecordError(key, name, 'it is not a number');
  };
  return {
    epoch: fields['epoch'] ?? '',
    settles: number('settles'),
    version: number('version'),
    endpointVersion: number('endpointVersion'),
    cursor: number('cursor'),
    timeline: fields['timeline'] ?? '',
    done: fields['done'] ?? '',
    enabled: fields['enabled'] !== '0',
    disabledReason: fields['disabledReason'] ?? '',
    failures: number('failures'),
    failedFilings: decodeRecord(key, 'failedFilings', fields['failedFilings'] ?? '[]', parseTexts),
    failingSince: number('failingSince'),
    lastSuccessAt: number('lastSuccessAt'),
    workedAt: number('workedAt'),
    pausedUntil: number('pausedUntil'),
    probes: number('probes'),
    ...(fields['obstacle'] ? { obstacle: fields['obstacle'] } : {}),
    parked: number('parked'),
    nextAttemptAt: number('nextAttemptAt'),
    release: fields['release'] === '1',
    releasedAt: number('releasedAt'),
    settledAt: number('settledAt'),
    replaying: number('replaying'),
    snapshots: number('snapshots'),
    undecided: fields['undecided'] ?? '',
    throttledUntil: number('throttledUntil'),
    blocked: parseBlock(fields['blocked'], key),
  };
}

/** The state of a subscription whose own cannot be read: it is blocked for that reason; pure. */
export function unreadableState({ message }: UnreadableRecordError): DeliveryState {
  return { ...parseDeliveryState({}), blocked: { reason: message, since: 0, times: 0, nextAt: 0 } };
}

function parseTexts(text: string): string[] | null {
  const parsed: unknown = JSON.parse(text);
  return Array.isArray(parsed) ? parsed.map(String) : null;
}

/**
 * The block of a subscription from its field in that hash; null where there is none. Throws
 * UnreadableRecordError.
 */
export function parseBlock(text: string | null | undefined, key = ''): Block | null {
  if (text == null) return null;
  return decodeRecord(key, 'blocked', text, (json) =>
    parseShaped<Block>(json, { reason: 'string', since: 'number', times: 'number', nextAt: 'number' }),
  );
}
