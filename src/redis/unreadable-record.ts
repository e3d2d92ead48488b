import type { RedisClient } from './connection/connect.ts';
import type { AccountKeys } from './keys.ts';
import { defineScript } from './scripts.ts';
import { isStoreFailure } from './store-failure.ts';

/**
 * A stored record that cannot be read: garbage, cut short, or a key of another type than it should be. The
 * message names the record and contains nothing of it.
 */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  /** Several keys, separated by commas, if Redis does not say which of them it was. */
  readonly key: string;
  /** Null if the key as a whole cannot be read. */
  readonly field: string | null;
  readonly reason: string;

  constructor(key: string, field: string | null, reason: string = 'it is garbage or was cut short') {
    super(`the record ${field === null ? key : `${key} → ${field}`} cannot be read: ${reason}`);
    this.key = key;
    this.field = field;
    this.reason = reason;
  }
}

/** The treatment of a record that cannot be read. */
export type Remedy =
  | 'set_aside' // it begins anew; its former value is kept for a week
  | 'left_out' // it alone is left out until the operator repairs or removes it
  | 'stands'; // the work that needs it stands still until the operator repairs it

/** Reports a record that cannot be read; the same one may be reported repeatedly. */
export type OnUnreadable = (account: string, error: UnreadableRecordError, remedy: Remedy) => void;

/**
 * Whether an error means that a stored record cannot be read, as opposed to a failure of Redis or a mistake
 * of the daemon.
 */
export function isUnreadable(error: unknown): error is UnreadableRecordError {
  return error instanceof UnreadableRecordError;
}

/** Returns the result of `read` in a list; a record that cannot be read is reported and left out. */
export function readOrLeaveOut<T>(account: string, onUnreadable: OnUnreadable, read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    onUnreadable(account, error, 'left_out');
    return [];
  }
}

/**
 * Decodes a stored text. Throws UnreadableRecordError when `decode` throws or returns null. The message
 * holds nothing of the record.
 */
export function decodeRecord<T extends object>(
  key: string,
  field: string | null,
  text: string,
  decode: (text: string) => T | null,
): T {
  let decoded: T | null = null;
  try {
    decoded = decode(text);
  } catch {
    // Named below.
  }
  if (decoded !== null) return decoded;
  throw new UnreadableRecordError(key, field);
}

/** The types that members of an object must have. */
export type Shape<T> = Readonly<Partial<Record<keyof T, 'string' | 'number' | 'boolean' | 'object'>>>;

/** Parses JSON of an object with these members of these types; null otherwise. Throws SyntaxError. */
export function parseShaped<T extends object>(text: string, shape: Shape<T>): T | null {
  const value = JSON.parse(text) as T | null;
  return typeof value === 'object' && value !== null && isShaped(value, shape) ? value : null;
}

// Whether an object has these members of these types.
function isShaped<T extends object>(value: T, shape: Shape<T>): boolean {
  for (const name in shape) if (typeof value[name] !== shape[name]) return false;
  return true;
}

// Errors of Redis and its scripts when a command does not suit the value of a key.
const misfits = /WRONGTYPE|is not an integer|is not a float|equal or smaller than the target|user_script/;

/**
 * The error of one part of a script, as ioredis makes those of whole ones, with the keys that it may be
 * about.
 */
export function replyError(message: string, ...keys: readonly string[]): Error {
  const command = { name: 'evalsha', args: ['', String(keys.length), ...keys] };
  return Object.assign(new Error(message), { name: 'ReplyError', command });
}

/**
 * The error as an UnreadableRecordError if it is one, or if Redis reports that the value of a key does not
 * suit a command; otherwise null.
 */
export function toUnreadable(error: unknown): UnreadableRecordError | null {
  if (isUnreadable(error)) return error;
  if (!(error instanceof Error) || error.name !== 'ReplyError' || isStoreFailure(error)) return null;
  if (!misfits.test(error.message)) return null;
  const reason = error.message.startsWith('WRONGTYPE')
    ? 'it is of another type'
    : 'it holds what is not ours';
  return new UnreadableRecordError(keysOf(error).join(', ') || 'unknown', null, reason);
}

/** The result of `work`, or null if it meets a record that cannot be read. Rejects with other failures. */
export async function unlessUnreadable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (toUnreadable(error) === null) throw error;
    return null;
  }
}

// ioredis attaches the command to the error: its first argument is the key; a script has several keys.
function keysOf(error: Error): string[] {
  const { command } = error as { command?: { name?: string; args?: readonly unknown[] } };
  const args = (command?.args ?? []).map(String);
  if (!/^eval/i.test(command?.name ?? '')) return args.slice(0, 1);
  return args.slice(2, 2 + Number(args[1] ?? 0));
}

// By their names; all others are hashes.
const types: readonly (readonly [string, RegExp])[] = [
  ['string', /:(incarnation|head|lease|sweep-lease|quota|idempotency:[^:]+)$/],
  ['list', /:changes$/],
  ['zset', /:(index|effective|created|look-alikes|order|certificates|certificate-warnings|registrations)$/],
  ['stream', /:(log|count-history|unreadable|attempts|dead)$/],
];

/**
 * Reports the record for which work of an account stands still, and returns it as the error that names it;
 * null, with nothing reported, for an error of another kind.
 */
export type ReportStanding = (account: string, error: unknown) => Promise<UnreadableRecordError | null>;

/** Reports records to `onUnreadable`. After a script has failed, the types of its keys show which it was. */
export function createReportStanding(
  redis: Pick<RedisClient, 'type'>,
  onUnreadable: OnUnreadable,
): ReportStanding {
  return async (account, error) => {
    const unreadable = toUnreadable(error);
    if (unreadable === null) return null;
    const named = await nameMisfit(redis, unreadable);
    onUnreadable(account, named, 'stands');
    return named;
  };
}

async function nameMisfit(
  redis: Pick<RedisClient, 'type'>,
  error: UnreadableRecordError,
): Promise<UnreadableRecordError> {
  const keys = error.key.split(', ');
  if (keys.length === 1) return error;
  const found = await Promise.all(keys.map((key) => redis.type(key)));
  const wrong = keys.filter((key, i) => {
    const [type = 'hash'] = types.find(([, names]) => names.test(key)) ?? [];
    return found[i] !== 'none' && found[i] !== type;
  });
  return wrong.length === 0 ? error : new UnreadableRecordError(wrong.join(', '), null, error.reason);
}

/** Milliseconds for which a record that was set aside is kept for the operator. */
export const asideMs = 7 * 24 * 3_600_000;
/** Maximum number of records of an account that are kept so. */
export const asideMax = 1_000;
// Maximum bytes of a record that are kept.
const asideBytesMax = 4_096;

// KEYS   1 a hash  2 the records set aside
// ARGV   1 field  2 its value as it was read  3 its new value ('' = none)
//        4 milliseconds for which records are kept  5 number of records that are kept
//        6 bytes of a record that are kept
// Reply  1, or 0 when the field has another value by now
const setAsideScript = defineScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], '*', 'key', KEYS[1], 'field', ARGV[1], 'value', string.sub(ARGV[2], 1, ARGV[6]))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`);

/**
 * Moves an unreadable field to `P:{a}:unreadable`, where it is kept for a week, and replaces it with `value`,
 * or removes it if that is null. False, with nothing done, if the field no longer has the value `held`.
 * Atomic. `held` is in bytes, because as text it may differ.
 */
export async function setAside(
  redis: RedisClient,
  { unreadable }: Pick<AccountKeys, 'unreadable'>,
  { key, field, held, value }: { key: string; field: string; held: Buffer; value: string | null },
): Promise<boolean> {
  const args = [field, held, value ?? '', asideMs, asideMax, asideBytesMax];
  return (await setAsideScript.run(redis, [key, unreadable], args)) === 1;
}
