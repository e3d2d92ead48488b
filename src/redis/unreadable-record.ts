import { isStoreFailure } from './store-failure.ts';

/**
 * A stored record that cannot be read: garbage, cut short, or a key of another type than it should be. The
 * message names the record and contains nothing of it.
 */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly key: string;
  /** Null where it is the key as a whole. */
  readonly field: string | null;

  constructor(key: string, field: string | null, reason: string) {
    super(`the record ${field === null ? key : `${key} → ${field}`} cannot be read: ${reason}`);
    this.key = key;
    this.field = field;
  }
}

/**
 * Whether an error means that a stored record cannot be read, as opposed to a failure of Redis or a mistake
 * of the daemon.
 */
export function isUnreadable(error: unknown): error is UnreadableRecordError {
  return error instanceof UnreadableRecordError;
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
  throw new UnreadableRecordError(key, field, 'it is garbage or was cut short');
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

// Errors of Redis and its scripts where a command does not suit the value of a key.
const misfits = /WRONGTYPE|is not an integer|is not a float|equal or smaller than the target|user_script/;

/**
 * The error as an UnreadableRecordError where it is one, or where Redis reports that the value of a key does
 * not suit a command; otherwise null.
 */
export function toUnreadable(error: unknown): UnreadableRecordError | null {
  if (isUnreadable(error)) return error;
  if (!(error instanceof Error) || error.name !== 'ReplyError' || isStoreFailure(error)) return null;
  if (!misfits.test(error.message)) return null;
  const [keys, reason] = [
    keysOf(error),
    error.message.startsWith('WRONGTYPE') ? 'it is of another type' : 'what it holds is not ours',
  ];
  return new UnreadableRecordError(keys, null, reason);
}

/**
 * The UnreadableRecordError with which the work failed; null when it succeeded. Rejects with other failures.
 */
export async function failureOf(work: () => Promise<unknown>): Promise<UnreadableRecordError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    return unreadable;
  }
}

// ioredis attaches the command to the error: its first argument is the key; a script has several keys.
function keysOf(error: Error): string {
  const { command } = error as { command?: { name?: string; args?: readonly unknown[] } };
  const args = (command?.args ?? []).map(String);
  if (!/^eval/i.test(command?.name ?? '')) return args[0] ?? 'unknown';
  return `among ${args.slice(2, 2 + Number(args[1] ?? 0)).join(', ')}`;
}

/** The remedy for a record that cannot be read. */
export type Remedy =
  | 'rebuilt' // it was made again from other records
  | 'set_aside' // it begins anew; its former value is kept for a week
  | 'left_out' // it alone is left out until the operator repairs or removes it
  | 'stands'; // the work that needs it stands still until the operator repairs it

/** A record that was found unreadable, as it is reported. */
export interface UnreadableFinding {
  readonly account: string;
  /** The key's name without prefix, account and ids, such as `filings` or `sub:lanes`. */
  readonly kind: string;
  readonly key: string;
  /** The field of a hash, such as a filing's or a subscription's id; null where it is the key as a whole. */
  readonly field: string | null;
  readonly reason: string;
  readonly remedy: Remedy;
}

/** Receives findings; the same finding may be reported repeatedly. */
export type OnUnreadable = (finding: UnreadableFinding) => void;
