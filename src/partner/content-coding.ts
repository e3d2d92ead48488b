import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { AnswerExcess } from './partner-error.ts';

/** A body cannot be decoded: it is cut, or is not in the coding that its answer names. */
export class BrokenCoding extends Error {
  override readonly name = 'BrokenCoding';
}

type Decode = (body: Buffer, options: zlib.ZlibOptions & zlib.ZstdOptions) => Promise<Buffer>;

// Maximum number of codings of one answer; more have no use.
const codingsMax = 5;
// Windows of zstd up to 8 MiB (RFC 9659): a larger one is memory that the answer may claim.
const zstdParams = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

const gunzip: Decode = promisify(zlib.gunzip);
const inflate: Decode = promisify(zlib.inflate);
const inflateRaw: Decode = promisify(zlib.inflateRaw);
const unzstd: Decode = promisify(zlib.zstdDecompress);

// A proxy may have decoded a body and left the header: then it does not begin as a coded one does.
const decoders: Readonly<Record<string, Decode>> = {
  gzip: async (body, options) => (body.readUInt16BE() === 0x1f8b ? gunzip(body, options) : body),
  // The format of zlib (RFC 9110 §8.4.1.2), and without its header as some services send it.
  deflate: (body, options) => ((body.readUInt8() & 0x0f) === 8 ? inflate : inflateRaw)(body, options),
  br: promisify(zlib.brotliDecompress) as Decode,
  zstd: async (body, options) =>
    body.readUInt16BE() === 0x28b5 ? unzstd(body, { ...options, params: zstdParams }) : body,
};

/** The codings in `Content-Encoding` (RFC 9110 §8.4), in the order in which they were applied. */
function codingsOf(header = ''): readonly string[] {
  const names = header.toLowerCase().split(',');
  return names
    .map((name) => name.trim().replace(/^x-gzip$/, 'gzip'))
    .filter((name) => name !== '' && name !== 'identity');
}

/** The coding in a `Content-Encoding` that `decoded` cannot undo, null where it can undo all; pure. */
export function unknownCoding(header: string | undefined): string | null {
  const codings = codingsOf(header);
  return codings.find((coding) => !Object.hasOwn(decoders, coding)) ?? codings[codingsMax] ?? null;
}

/**
 * A body without its codings, or as it is where one of them is unknown. Rejects with AnswerExcess when it
 * would have more than `bytesMax` bytes, and with BrokenCoding.
 */
export async function decoded(body: Buffer, header: string | undefined, bytesMax: number): Promise<Buffer> {
  let bytes = body;
  if (unknownCoding(header) !== null) return bytes;
  for (const coding of codingsOf(header).toReversed()) {
    if (bytes.length < 2) return bytes;
    try {
      bytes = (await decoders[coding]?.(bytes, { maxOutputLength: bytesMax })) ?? bytes;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new AnswerExcess('bytes', bytesMax);
      throw new BrokenCoding(`a ${coding} that is cut or broken`);
    }
  }
  return bytes;
}
