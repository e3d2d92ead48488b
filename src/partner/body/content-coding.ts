import { Readable, pipeline, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** A body cannot be decoded: it is cut, or is not in the coding that its answer names. */
export class BrokenCoding extends Error {
  override readonly name = 'BrokenCoding';
}

// Maximum number of codings of one answer; more have no use.
const codingsMax = 5;
// Windows of zstd up to 8 MiB (RFC 9659): a larger one is memory that the answer may claim.
const zstdOptions = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

type Decoder = (first: Buffer) => Transform | null;

// Bytes with which a coded body begins; a proxy may have decoded it and left the header.
const isGzip = (first: Buffer) => first[0] === 0x1f && (first[1] ?? 0x8b) === 0x8b;
const isZstd = (first: Buffer) => first[0] === 0x28 && (first[1] ?? 0xb5) === 0xb5;
const gunzip: Decoder = (first) => (isGzip(first) ? zlib.createGunzip() : null);

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  // The format of zlib (RFC 9110 §8.4.1.2), and without its header as some services send it.
  ['deflate', ([first = 0]) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw())],
  ['br', () => zlib.createBrotliDecompress()],
  ['zstd', (first) => (isZstd(first) ? zlib.createZstdDecompress(zstdOptions) : null)],
]);

/** The codings in `Content-Encoding` (RFC 9110 §8.4), in the order in which they were applied. */
function codingsOf(header = ''): readonly string[] {
  const names = header.toLowerCase().split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
}

/** The coding in a `Content-Encoding` that `decoded` cannot undo, null where it can undo all; pure. */
export function unknownCoding(header: string | undefined): string | null {
  const codings = codingsOf(header);
  return codings.find((coding) => !decoders.has(coding)) ?? codings[codingsMax] ?? null;
}

/**
 * The chunks of a body without its codings, a few KiB at a time, so that their size is known before they take
 * memory. `header` is called after the first chunk. Rejects as `chunks` does, and with BrokenCoding.
 */
export async function* decoded(
  chunks: AsyncIterable<Buffer>,
  header: () => string | undefined,
): AsyncGenerator<Buffer> {
  const { all } = await begin(chunks);
  const codings = unknownCoding(header()) === null ? codingsOf(header()) : [];
  yield* codings.reduceRight(undo, all);
}

async function* undo(chunks: AsyncGenerator<Buffer>, coding: string): AsyncGenerator<Buffer> {
  const { first, all } = await begin(chunks);
  const decoder = first.length === 0 ? null : (decoders.get(coding)?.(first) ?? null);
  if (decoder === null) return yield* all;
  let failure: unknown = new BrokenCoding(`a ${coding} that is cut or broken`);
  const coded = Readable.from(all).once('error', (error) => (failure = error));
  try {
    yield* pipeline(coded, decoder, () => undefined) as AsyncIterable<Buffer>;
  } catch {
    throw failure;
  }
}

/** The first chunk, empty where there is none, and all of them. */
async function begin(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* all(): AsyncGenerator<Buffer> {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { first: first.done === true ? Buffer.alloc(0) : first.value, all: all() };
}
