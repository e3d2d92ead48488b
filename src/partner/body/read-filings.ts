import { parseExactly } from '../../json/parse-exactly.ts';
import {
  nestingMax,
  parseFiling,
  parsePage,
  startPage,
  toFiling,
  type PartnerFiling,
  type PartnerPage,
} from '../filing-schema.ts';
import type { AnswerBody } from './answer-body.ts';
import { isHeavy, pickMembers, valuesMax, weigh, type RecordText } from './read-record.ts';
import { takeTurns, type Turns } from '../../json/turns.ts';

// The fields of a filing that this daemon knows, with the maximum bytes of their values as JSON. What is
// needed is longer than the schema permits, what is for show is cut later anyway.
const knownFields: ReadonlyMap<string, number> = new Map([
  ['id', 2_048],
  ['status', 2_048],
  ['completedAt', 2_048],
  ['rejectionReason', 512 * 1024],
  ['createdAt', 2_048],
  ['policyNumber', 64 * 1024],
  ['insuredsName', 64 * 1024],
  ['filingState', 64 * 1024],
  ['filingType', 64 * 1024],
  ['premium', 2_048],
]);

const byteOrderMark = Buffer.from('\ufeff');

/**
 * The page in an answer, as `parsePage` reads it. A large one is read record by record, and other work gets
 * its turn meanwhile. A filing of more than `wholeBytesMax` bytes, or 50 000 values, is `heavy`: only the
 * fields that this daemon knows are read. Rejects with SyntaxError where the answer is not JSON.
 */
export async function readPage(body: AnswerBody, wholeBytesMax: number): Promise<PartnerPage | null> {
  const { layout, bytes } = body;
  if (layout === 'small') return parsePage(body.text);
  if (layout === null || layout === 'unsplit') throw new SyntaxError('not a page');
  const frame: unknown = JSON.parse(layout.frame);
  const page = startPage();
  const turns = takeTurns();
  await turns.next();
  for (const { from, to, marks, deepest } of layout.records) {
    if (turns.isOver()) await turns.next();
    const text = { bytes: bytes.subarray(from, to), marks, deepest };
    const { value, filing } = await readRecord(text, wholeBytesMax, turns);
    page.add(value, filing);
  }
  return page.end(frame);
}

/** The filing in an answer, as `parseFiling` reads it; a large one is read as one on a page is. */
export async function readFiling(body: AnswerBody, wholeBytesMax: number): Promise<PartnerFiling | null> {
  if (body.layout === 'small') return parseFiling(body.text);
  const turns = takeTurns();
  await turns.next();
  const text = await weigh(withoutMark(body.bytes), turns);
  return (await readRecord(text, wholeBytesMax, turns)).filing;
}

interface ReadRecord {
  readonly value: unknown;
  readonly filing: PartnerFiling | null;
}

async function readRecord(text: RecordText, wholeBytesMax: number, turns: Turns): Promise<ReadRecord> {
  if (isHeavy(text, { bytesMax: wholeBytesMax, valuesMax })) return readHeavy(text, turns);
  const { bytes } = text;
  const value: unknown = JSON.parse(bytes.toString());
  // The text is decoded again where the document is requested.
  return { value, filing: toFiling(value, () => parseExactly(bytes.toString()) as Record<string, unknown>) };
}

async function readHeavy({ bytes, deepest }: RecordText, turns: Turns): Promise<ReadRecord> {
  const known = await pickMembers(bytes, knownFields, turns);
  if (known === null) return { value: null, filing: null };
  const value: unknown = JSON.parse(known);
  const filing = toFiling(value, () => parseExactly(known) as Record<string, unknown>);
  const isNested = deepest > nestingMax;
  return { value, filing: filing === null || isNested ? null : { ...filing, heavyBytes: bytes.length } };
}

// A byte order mark is no part of JSON; small answers lose it where they are decoded.
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}
