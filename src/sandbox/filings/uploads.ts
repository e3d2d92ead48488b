import { randomBytes } from 'node:crypto';
import { uploadUrlLifetimeMs } from '../decisions.ts';
import { SandboxError } from '../errors.ts';
import { hexDigits, type Random } from '../random.ts';

/** A file whose bytes were sent or may still be sent. The bytes themselves are counted and thrown away. */
export interface Upload extends UploadSignature {
  readonly storagePath: string;
  readonly owner: string;
  readonly fileName: string;
  /** The filing of the file, null for one yet to be created. */
  readonly filingId: string | null;
  readonly stored: boolean;
}

/** The part of an upload URL that proves it was issued here. */
interface UploadSignature {
  /** Milliseconds since 1970, as decimal digits. */
  readonly expires: string;
  /** Random hexadecimal digits. */
  readonly signature: string;
}

/** The uploads of all accounts. */
export type Uploads = ReturnType<typeof createUploads>;

/** No uploads yet; URLs of another instance are not valid here. */
export function createUploads(deps: { readonly now: () => number; readonly random: Random }) {
  const uploads = new Map<string, Upload>();
  let lifetimeMs = uploadUrlLifetimeMs;

  return {
    /** Milliseconds for which URLs issued from now on are valid. */
    lifetimeMs: () => lifetimeMs,
    /** Changes the lifetime; with 0, URLs have expired when they are issued. */
    setLifetime(ms: number): void {
      lifetimeMs = ms;
    },
    /** Issues a path, and the signature that lets its bearer send the bytes once within the lifetime. */
    issue(file: Pick<Upload, 'owner' | 'fileName' | 'filingId'>): Upload {
      const storagePath = `uploads/${file.owner}/${hexDigits(deps.random, 32)}/${plainName(file.fileName)}`;
      const [expires, signature] = [String(deps.now() + lifetimeMs), randomBytes(32).toString('hex')];
      const upload = { ...file, storagePath, stored: false, expires, signature };
      uploads.set(storagePath, upload);
      return upload;
    },
    /** The upload of a URL. Throws the `UPLOAD_URL_…` error for a forged, expired or used one. */
    check(storagePath: string, { expires, signature }: UploadSignature): Upload {
      const upload = uploads.get(storagePath);
      if (upload === undefined || upload.expires !== expires || upload.signature !== signature) {
        throw new SandboxError('UPLOAD_URL_INVALID', 'this upload URL was not issued by this service');
      }
      if (upload.stored) {
        throw new SandboxError('UPLOAD_URL_USED', 'this upload URL was used; ask for another one');
      }
      if (Number(expires) <= deps.now()) {
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
