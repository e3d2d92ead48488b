import { NewerFormatError } from './newer-format-error.ts';
import { isStoreFailure } from './store-failure.ts';

/**
 * A stored record that cannot be read: garbage, cut short, or a key of another type than it should be. The
 * message names it and holds nothing of it.
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

/** Why a record cannot be read: what it holds is not ours, or a newer version's. */
export type UnreadableError = UnreadableRecordError | NewerFormatError;

/**
 * Whether an error means that a stored record cannot be read, as opposed to a failure of Redis or a mistake
 * of ours; pure.
 */
export function isUnreadable(error: unknown): error is UnreadableError {
  return error instanceof UnreadableRecordError || error instanceof NewerFormatError;
}

/**
 * Decodes a stored text. Throws UnreadableRecordError when `decode` throws or returns null; NewerFormatError
 * passes. So `decode` says what the record must look like, and nothing of what it holds comes into the
 * message.
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
  } catch (error) {
    if (error instanceof NewerFormatError) throw error;
  }
  if (decoded !== null) return decoded;
  throw new UnreadableRecordError(key, field, 'it is garbage or was cut short');
}

/** What members of an object have to be. */
export type Shape<T> = Readonly<Partial<Record<keyof T, 'string' | 'number' | 'boolean' | 'object'>>>;

/** JSON that is an object with these members of these types; null otherwise. */
export function parseShaped<T extends object>(text: string, shape: Shape<T>): T | null {
  const value = JSON.parse(text) as T | null;
  return typeof value === 'object' && value !== null && isShaped(value, shape) ? value : null;
}

/** Whether an object has these members of these types; pure. */
export function isShaped<T extends object>(value: T, shape: Shape<T>): boolean {
  for (const name in shape) if (typeof value[name] !== shape[name]) return false;
  return true;
}

// What Redis says of commands that do not suit what a key holds, and what its scripts stumble over then.
const misfits = /WRONGTYPE|is not an integer|is not a float|equal or smaller than the target|user_script/;

/**
 * The error as an UnreadableError where it is one, or where Redis says that what a key holds does not suit a
 * command; else null.
 */
export function toUnreadable(error: unknown): UnreadableError | null {
  if (isUnreadable(error)) return error;
  if (!(error instanceof Error) || error.name !== 'ReplyError' || isStoreFailure(error)) return null;
  if (!misfits.test(error.message)) return null;
  const [keys, reason] = [
    keysOf(error),
    error.message.startsWith('WRONGTYPE') ? 'it is of another type' : 'what it holds is not ours',
  ];
  return new UnreadableRecordError(keys, null, reason);
}

/** Why a record cannot be read that the work needs; null when all went well. Rejects with other failures. */
export async function failureOf(work: () => Promise<unknown>): Promise<UnreadableError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    return unreadable;
  }
}

// ioredis keeps the command with the error: its first argument is the key, and a script has several.
function keysOf(error: Error): string {
  const { command } = error as { command?: { name?: string; args?: readonly unknown[] } };
  const args = (command?.args ?? []).map(String);
  if (!/^eval/i.test(command?.name ?? '')) return args[0] ?? 'unknown';
  return `among ${args.slice(2, 2 + Number(args[1] ?? 0)).join(', ')}`;
}

/** What became of a record that cannot be read. */
export type Remedy =
  | 'rebuilt' // something that follows from the other records stands in its place
  | 'set_aside' // it begins anew; what it held is kept for a week
  | 'left_out' // it alone is left out until somebody mends or removes it
  | 'stands'; // what needs it stands still until somebody mends it

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

/** Takes note of a finding; it may be the same one again and again. */
export type OnUnreadable = (finding: UnreadableFinding) => void;
