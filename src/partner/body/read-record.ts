import { createJsonWalk, type WalkedPart } from '../../json/json-walk.ts';
import { createMemberPicker } from '../../json/pick-members.ts';
import type { Turns } from '../../json/turns.ts';

/** Where a record lies, and what it holds. */
export interface RecordText extends WalkedPart {
  readonly bytes: Buffer;
}

/** Limits within which a record is parsed as a whole. */
export interface RecordLimits {
  readonly bytesMax: number;
  /** Maximum number of values in it. */
  readonly valuesMax: number;
}

/** Maximum number of values of a filing that is read as a whole: real ones have less than a hundred. */
export const valuesMax = 50_000;

const walkBytes = 64 * 1024;
/** Whether a record is too large to be parsed as a whole. */
export function isHeavy({ bytes, marks }: RecordText, limits: RecordLimits): boolean {
  return bytes.length > limits.bytesMax || marks > limits.valuesMax;
}

/** Counts the values of a record that has not been walked over yet; gives others a turn meanwhile. */
export async function weigh(bytes: Buffer, turns: Turns): Promise<RecordText> {
  const walk = createJsonWalk(0, () => undefined);
  await walkInTurns(bytes, turns, walk);
  return { bytes, ...walk.take() };
}

/** The members of a heavy record, as `createMemberPicker` picks them; gives others a turn meanwhile. */
export async function pickMembers(
  bytes: Buffer,
  fields: ReadonlyMap<string, number>,
  turns: Turns,
): Promise<string | null> {
  const { walk, picked } = createMemberPicker(bytes, fields);
  await walkInTurns(bytes, turns, walk);
  return picked();
}

async function walkInTurns(
  bytes: Buffer,
  turns: Turns,
  walk: ReturnType<typeof createJsonWalk>,
): Promise<void> {
  for (let from = 0; from < bytes.length; from += walkBytes) {
    if (turns.isOver()) await turns.next();
    walk.push(bytes, from, Math.min(from + walkBytes, bytes.length));
  }
}
