import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { hasCurrentCopy, takesGzip } from '../http/negotiation.ts';

/** A file for browsers, read once and held in memory: no path of a request ever leads to the disk. */
export interface Asset {
  /** Begins with a slash. */
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** Weak, because it stands for the body with and without gzip. */
  readonly etag: string;
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
export async function createAsset(path: string, type: string, text: string): Promise<Asset> {
  const body = Buffer.from(text);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { path, type, body, gzipped: await zip(body, { level: 9 }), etag: `W/"${hash}"` };
}

/**
 * Adds the route of an asset. `no-cache` lets browsers keep a copy and makes them check whether it is still
 * current (RFC 9111 §5.2.2.4), so all files are always of one version.
 */
export function serveAsset(app: FastifyInstance, { path, type, body, gzipped, etag }: Asset): void {
  app.get(path, { schema: { hide: true } }, (request, reply) => {
    void reply.headers({ etag, 'cache-control': 'no-cache', vary: 'accept-encoding' }).type(type);
    const { 'if-none-match': known, 'accept-encoding': encodings } = request.headers;
    if (hasCurrentCopy(known, etag)) return reply.code(304).send();
    if (!takesGzip(encodings)) return reply.send(body);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  });
}
