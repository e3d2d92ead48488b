import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TlsFiles } from './redis-url.ts';

/** A file that REDIS_URL names cannot be read or used. The message says which, and what to do. */
export class RedisFileError extends Error {
  override readonly name = 'RedisFileError';
}

/** The contents of the files that TLS uses, as options of `tls.connect`. */
export type TlsMaterial = { readonly cert?: string; readonly key?: string; readonly ca?: string };

/** Reads and checks the files, once; a renewed certificate needs a restart. Throws RedisFileError. */
export function readTlsFiles({ cert, key, cacert }: TlsFiles): TlsMaterial {
  const material = {
    ...(cert === null ? {} : { cert: read('cert', cert) }),
    ...(key === null ? {} : { key: read('key', key) }),
    ...(cacert === null ? {} : { ca: read('cacert', cacert) }),
  };
  try {
    createSecureContext(material);
    // A file without a certificate would be passed over.
    if (material.ca !== undefined) void new X509Certificate(material.ca);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RedisFileError(
      `TLS cannot use the files of REDIS_URL (${reason}): cert, key and cacert are files in PEM, the key without a passphrase and that of the certificate`,
      { cause: error },
    );
  }
  return material;
}

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new RedisFileError(
      `REDIS_URL names ${path} as ${option}, which cannot be read (${code}): give the path of a file that the user of this process may read`,
      { cause: error },
    );
  }
}
