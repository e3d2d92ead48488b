import { AnswerExcess } from './answer-excess.ts';
import { createJsonWalk, type WalkedPart } from '../../json/json-walk.ts';

/** Where a record of a page lies in its bytes, and what it holds: see `JsonWalk.take`. */
export interface RecordPlace extends WalkedPart {
  readonly from: number;
  readonly to: number;
}

/** A page of the list, split but not parsed. */
export interface PageLayout {
  readonly records: readonly RecordPlace[];
  /** The page with an empty list of records, as JSON. */
  readonly frame: string;
}

/** Splits a page while its bytes arrive. */
export interface PageSplitter {
  /**
   * Goes on over the bytes up to the index `to`; those before it have been given already. Throws AnswerExcess
   * as soon as there are more than `recordsMax` records, or more than 256 KiB beside them.
   */
  push(bytes: Buffer, to: number): void;
  /** The layout of the whole page; null where its brackets show that it is not JSON. */
  end(bytes: Buffer): PageLayout | null;
}

/** Maximum number of records on a page: a service that ignores `limit` may send more than were requested. */
export const recordsMax = 10_000;

// Maximum bytes of a page beside its records.
const frameBytesMax = 256 * 1024;
// Maximum bytes of a key that may be `items`, each character escaped.
const keyBytesMax = 64;

const space = 0x20;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;

/**
 * A splitter of `{"items":[…],…}`. Like JSON.parse it takes the last of several `items`. A page is JSON
 * exactly where its frame and each of its records are.
 */
export function createPageSplitter(): PageSplitter {
  let bytes: Buffer = Buffer.alloc(0);
  let walked = 0;
  let memberAt = 0;
  let isItemsNext = false;
  let isBroken = false;
  // The bytes between the brackets of each `items`.
  const lists: { readonly from: number; readonly to: number }[] = [];
  let listBytes = 0;
  let listFrom = -1;
  let recordFrom = -1;
  let records: RecordPlace[] = [];
  const walk = createJsonWalk(2, onStructure);

  function onStructure(byte: number, at: number, depth: number): void {
    if (depth === 1) onMember(byte, at);
    else if (depth < 1) isBroken = true;
    else if (byte === openBracket && isItemsNext) begin(at + 1);
    else if (listFrom >= 0) onList(byte, at);
  }

  function onMember(byte: number, at: number): void {
    if (byte === colon) isItemsNext = isItemsKey(at);
    else isItemsNext = false;
    if (byte === comma || byte === openBrace) memberAt = at + 1;
  }

  function isItemsKey(to: number): boolean {
    let from = memberAt;
    while (from < to && (bytes[from] ?? 0) <= space) from += 1;
    if (to - from > keyBytesMax) return false;
    const key = textOf(from, to).trim();
    return key === '"items"' || (key.includes('\\') && isEscapedItems(key));
  }

  function begin(at: number): void {
    isItemsNext = false;
    [listFrom, recordFrom, records] = [at, at, []];
    walk.take();
  }

  function onList(byte: number, at: number): void {
    if (byte === comma) endRecord(at);
    else if (byte === closeBracket) endList(at);
    else isBroken = true;
  }

  function endRecord(at: number): void {
    const { marks, deepest } = walk.take();
    records.push({ from: recordFrom, to: at, marks, deepest: deepest - 2 });
    if (records.length > recordsMax) throw new AnswerExcess('records', recordsMax);
    recordFrom = at + 1;
  }

  function endList(at: number): void {
    if (records.length > 0 || textOf(recordFrom, at).trim() !== '') endRecord(at);
    lists.push({ from: listFrom, to: at });
    listBytes += at - listFrom;
    listFrom = -1;
  }

  function textOf(from: number, to: number): string {
    return bytes.toString('utf8', from, to);
  }

  function frameBytes(): number {
    return (listFrom < 0 ? walked : listFrom) - listBytes;
  }

  return {
    push(all, to) {
      bytes = all;
      walk.push(all, walked, to);
      walked = to;
      if (frameBytes() > frameBytesMax) throw new AnswerExcess('other bytes', frameBytesMax);
    },
    end(all) {
      bytes = all;
      if (isBroken || listFrom >= 0 || walk.depth() !== 0) return null;
      const parts: Buffer[] = [];
      let at = 0;
      for (const { from, to } of lists) {
        parts.push(all.subarray(at, from));
        at = to;
      }
      parts.push(all.subarray(at));
      return { records, frame: new TextDecoder().decode(Buffer.concat(parts)) };
    },
  };
}

function isEscapedItems(key: string): boolean {
  try {
    return JSON.parse(key) === 'items';
  } catch {
    return false;
  }
}
