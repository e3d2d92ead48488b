import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';

/** A file for browsers, read once and held in memory: no path of a request ever leads to the disk. */
export interface Asset {
  /** Begins with a slash. */
  readonly path: string;
  /** Made with the first request. A rejection is not kept: the next request tries again. */
  readonly read: () => Promise<Copies>;
}

/** A file in both encodings, one buffer of each for all answers. */
export interface Copies {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** Weak, because it stands for the body with and without gzip. */
  readonly etag: string;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A file before it is compressed. */
export interface Content {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

const zip = promisify(gzip);

/** The media type of a file by its name; null for files that the page does not have. Pure. */
export function mediaType(name: string): string | null {
  return types[name.slice(name.lastIndexOf('.') + 1)] ?? null;
}

/** Makes an asset from a file's text. */
export function createAsset(
  path: string,
  type: string,
  text: string,
  headers: Content['headers'] = {},
): Asset {
  return createLateAsset(path, () => ({ type, body: text, headers }));
}

/** An asset whose content is made with its first request, once for all that wait for it. */
export function createLateAsset(path: string, make: () => Content | Promise<Content>): Asset {
  let copies: Promise<Copies> | null = null;
  return {
    path,
    read() {
      copies ??= compressed(make).catch((error: unknown) => {
        copies = null;
        throw error;
      });
      return copies;
    },
  };
}

// Compression takes place beside the event loop.
async function compressed(make: () => Content | Promise<Content>): Promise<Copies> {
  const { type, body: content, headers = {} } = await make();
  const body =
    typeof content === 'string'
      ? Buffer.from(content)
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const gzipped = await zip(body);
  const hash = createHash('sha256').update(gzipped).digest('base64url').slice(0, 22);
  return { type, body, gzipped, etag: `W/"${hash}"`, headers };
}

/**
 * Adds the route of an asset. `no-cache` lets browsers keep a copy and makes them check whether it is still
 * current (RFC 9111 §5.2.2.4), so all files are always of one version.
 */
export function serveAsset(app: FastifyInstance, { path, read }: Asset): void {
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { type, body, gzipped, etag, headers } = await read();
    void reply.headers({ etag, 'cache-control': 'no-cache', vary: 'accept-encoding', ...headers }).type(type);
    const { 'if-none-match': known, 'accept-encoding': encodings } = request.headers;
    if (hasCurrentCopy(known, etag)) return reply.code(304).send();
    if (!takesGzip(encodings)) return reply.send(body);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  });
}

// Maximum characters of an `Accept-Encoding` that is read; browsers send fewer than fifty.
const codingsLengthMax = 1_024;

/**
 * Whether an `Accept-Encoding` header prefers gzip to the body as it is (RFC 9110 §12.5.3). A request
 * without the header, or with one of more than 1 024 characters, gets the body as it is.
 */
export function takesGzip(header: string | undefined): boolean {
  if (header === undefined || header.length > codingsLengthMax) return false;
  const headers = { 'accept-encoding': header };
  return new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
}

/**
 * Whether an `If-None-Match` header names the weak tag `etag`, so the client's copy is current (RFC 9110
 * §13.1.2). Tags are compared weakly (§8.8.3.2), and `*` names every tag.
 */
export function hasCurrentCopy(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.includes(etag.replace(/^W\//, '')));
}
