import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { uploadUrlLifetimeMs } from '../decisions.ts';
import { SandboxError } from '../errors.ts';
import { hexDigits, type Random } from '../random.ts';

/** A file whose bytes were sent or may still be sent. The bytes themselves are counted and thrown away. */
export interface Upload {
  readonly storagePath: string;
  readonly owner: string;
  readonly fileName: string;
  /** The filing of the file, null for one yet to be created. */
  readonly filingId: string | null;
  readonly stored: boolean;
}

/** The part of a signed URL that proves it was issued here. */
interface UploadSignature {
  /** Milliseconds since 1970, as decimal digits. */
  readonly expires: string;
  readonly signature: string;
}

/** The upload tickets of all accounts. */
export type Uploads = ReturnType<typeof createUploads>;

/** No tickets yet; tickets signed by another instance are not valid here. */
export function createUploads(deps: { readonly now: () => number; readonly random: Random }) {
  const secret = randomBytes(32);
  const uploads = new Map<string, Upload>();
  const expiries = new Map<string, number>();
  let lifetimeMs = uploadUrlLifetimeMs;
  const sign = (storagePath: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${expires}\n${storagePath}`).digest();

  const forgetExpired = (nowMs: number): void => {
    for (const [storagePath, expiresMs] of expiries) {
      if (expiresMs > nowMs) return;
      expiries.delete(storagePath);
      if (uploads.get(storagePath)?.stored === false) uploads.delete(storagePath);
    }
  };

  return {
    /** Milliseconds for which tickets issued from now on are valid. */
    lifetimeMs: () => lifetimeMs,
    /** Changes the lifetime; with 0, tickets have expired when they are issued. */
    setLifetime(ms: number): void {
      lifetimeMs = ms;
    },
    /**
     * Issues a ticket: the path, and the signature that lets its bearer send the bytes once within the
     * lifetime.
     */
    issue({ owner, fileName, filingId }: Pick<Upload, 'owner' | 'fileName' | 'filingId'>) {
      const expiresMs = deps.now() + lifetimeMs;
      forgetExpired(deps.now());
      const storagePath = `uploads/${owner}/${hexDigits(deps.random, 32)}/${plainName(fileName)}`;
      uploads.set(storagePath, { storagePath, owner, fileName, filingId, stored: false });
      expiries.set(storagePath, expiresMs);
      const expires = String(expiresMs);
      return { storagePath, expires, signature: sign(storagePath, expires).toString('hex') };
    },
    /** The upload of a signed URL. Throws the `UPLOAD_URL_…` error for a forged, expired or used one. */
    check(storagePath: string, { expires, signature }: UploadSignature): Upload {
      if (!sameBytes(sign(storagePath, expires), Buffer.from(signature, 'hex'))) {
        throw new SandboxError('UPLOAD_URL_INVALID', 'this upload URL was not issued by this service');
      }
      const upload = uploads.get(storagePath);
      if (upload?.stored === true) {
        throw new SandboxError('UPLOAD_URL_USED', 'this upload URL was used; ask for another one');
      }
      if (upload === undefined || Number(expires) <= deps.now()) {
        throw new SandboxError('UPLOAD_URL_EXPIRED', 'this upload URL has expired; ask for another one');
      }
      return upload;
    },
    /** Marks the bytes as stored: the URL cannot be used again. */
    store: (upload: Upload) => void uploads.set(upload.storagePath, { ...upload, stored: true }),
    /** The upload at a path, stored or not, or undefined. */
    find: (storagePath: string) => uploads.get(storagePath),
  };
}

// Paths need no escaping in a URL, even when the name of the file would.
function plainName(fileName: string): string {
  return fileName.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_');
}

function sameBytes(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
