import { AnswerExcess } from './answer-excess.ts';
import { createPageSplitter, type PageLayout } from './page-layout.ts';

/** The body of an answer that has arrived. */
export interface AnswerBody {
  readonly bytes: Buffer;
  /** Decodes the body, which is to be UTF-8. */
  readonly text: () => string;
  /**
   * The layout of a large page, null where it is not JSON. `small` is a body of up to 256 KiB, and `unsplit`
   * any larger one that is no page.
   */
  readonly layout: PageLayout | null | 'small' | 'unsplit';
}

/** Collects a body while it arrives. */
export interface BodyCollector {
  /** Throws AnswerExcess as soon as it shows that the body is too large. */
  push(chunk: Buffer): void;
  /** Number of bytes so far. */
  readonly length: number;
  end(): AnswerBody;
}

/** Maximum bytes of a body. */
export const bodyBytesMax = 16 * 1024 * 1024;

// Maximum bytes of a body that is parsed at once and as a whole.
const smallBytesMax = 256 * 1024;

/**
 * A collector for a body of `declared` bytes, null where the answer does not say. A page is split as it
 * arrives, once it is larger than 256 KiB. Throws AnswerExcess where the declared length is too large.
 */
export function createBodyCollector(kind: 'page' | 'other', declared: number | null): BodyCollector {
  if (declared !== null && declared > bodyBytesMax) throw new AnswerExcess('bytes', bodyBytesMax);
  let splitter = kind === 'page' ? createPageSplitter() : null;
  let chunks: Buffer[] = [];
  let whole: Buffer | null = null;
  let length = 0;

  // A declared length is reserved at once; the system provides the memory as it is filled.
  function grow(known: Buffer, needed: number): Buffer {
    if (needed <= known.length) return known;
    const size = Math.min(Math.max(needed, declared ?? 0, known.length * 2), bodyBytesMax);
    const grown = Buffer.allocUnsafeSlow(size);
    known.copy(grown, 0, 0, length);
    return grown;
  }

  function add(chunk: Buffer): void {
    if (length === 0 && isUtf16(chunk)) splitter = null;
    whole = grow(whole ?? Buffer.alloc(0), length + chunk.length);
    chunk.copy(whole, length);
    length += chunk.length;
    splitter?.push(whole, length);
  }

  return {
    get length() {
      return length;
    },
    push(chunk) {
      if (length + chunk.length > bodyBytesMax) throw new AnswerExcess('bytes', bodyBytesMax);
      if (whole !== null) return add(chunk);
      chunks.push(chunk);
      length += chunk.length;
      if (length <= smallBytesMax) return;
      const held = chunks;
      [chunks, length] = [[], 0];
      for (const each of held) add(each);
    },
    end() {
      const bytes = whole === null ? oneOf(chunks) : whole.subarray(0, length);
      const layout = whole === null ? 'small' : splitter === null ? 'unsplit' : splitter.end(bytes);
      [chunks, whole] = [[], null];
      return { bytes, layout, text: () => new TextDecoder().decode(bytes) };
    },
  };
}

/** Whether a text of JSON begins as one in UTF-16 does; pure. */
export function isUtf16(bytes: Buffer): boolean {
  return /^(?:fffe|feff|00(?!00)..|(?!00)..00)$/.test(bytes.toString('hex', 0, 2));
}

function oneOf(chunks: readonly Buffer[]): Buffer {
  const [first, ...others] = chunks;
  return first !== undefined && others.length === 0 ? first : Buffer.concat(chunks);
}
