import type { Checkpoint } from '../events/timeline.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { decodeRecord, parseShaped, UnreadableRecordError } from '../redis/unreadable-record.ts';
import { createCursor } from './cursor.ts';
import { neverCalled, type Block, type DeliveryState } from './subscription.ts';

/**
 * The delivery state from its Redis hash; missing fields have the values of a subscription that was never
 * called. Throws UnreadableRecordError, with the hash's key, when a field cannot be read.
 */
export function parseDeliveryState(fields: Readonly<Record<string, string>>, key = ''): DeliveryState {
  const entries = Object.entries(neverCalled).map(([name, initial]) => {
    const { [name]: text } = fields;
    return [name, text === undefined ? initial : parseField(key, name, text, initial)];
  });
  return Object.fromEntries(entries) as DeliveryState;
}

// The value of a field, of the type that its initial value has.
function parseField(key: string, name: string, text: string, initial: unknown): unknown {
  if (name === 'blocked') return parseBlock(text, key);
  if (typeof initial === 'string') return text;
  if (typeof initial === 'boolean') return initial ? text !== '0' : text === '1';
  if (typeof initial === 'object') return decodeRecord(key, name, text, parseTexts);
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new UnreadableRecordError(key, name, 'it is not a number');
}

/** The level of an account: every event up to it is done for each subscription that does not lag. */
export async function readLevel(redis: RedisClient, keys: Keys, account: string): Promise<Checkpoint> {
  const [position = null, timeline = null] = await redis.hmget(
    keys.account(account).delivery,
    'level',
    'timeline',
  );
  return { position: Number(position ?? 0) || 0, timeline: timeline ?? '' };
}

/**
 * The progress of a subscription with the level of its account, which must have been read before its state;
 * pure.
 */
export function withLevel<T extends Pick<DeliveryState, 'cursor' | 'done' | 'lags'>>(
  state: T,
  { position, timeline }: Checkpoint,
): T {
  if (state.lags || state.cursor > position) return state;
  const cursor = createCursor(position, state.done);
  return { ...state, cursor: cursor.position(), timeline, done: cursor.done() };
}

/** The state of a subscription whose own cannot be read: it is blocked for that reason; pure. */
export function unreadableState({ message }: UnreadableRecordError): DeliveryState {
  return { ...neverCalled, blocked: { reason: message, since: 0, times: 0, nextAt: 0 } };
}

function parseTexts(text: string): string[] | null {
  const parsed: unknown = JSON.parse(text);
  return Array.isArray(parsed) ? parsed.map(String) : null;
}

/**
 * The block of a subscription from its field in that hash, or null if there is none. Throws
 * UnreadableRecordError.
 */
export function parseBlock(text: string | null | undefined, key = ''): Block | null {
  if (text == null) return null;
  return decodeRecord(key, 'blocked', text, (json) =>
    parseShaped<Block>(json, { reason: 'string', since: 'number', times: 'number', nextAt: 'number' }),
  );
}
