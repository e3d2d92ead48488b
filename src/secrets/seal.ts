import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { placeName } from './seal-place.ts';
import type { SealPlace } from './seal-place.ts';

/**
 * One AES-256 key of the operator: 32 bytes, and the id under which sealed texts remember it (no dots in it).
 */
export type EncryptionKey = { readonly id: string; readonly key: Buffer };

/** Seals short secrets (partner keys, signing secrets) before they reach Redis, and opens them again. */
export type Sealer = ReturnType<typeof createSealer>;

/**
 * A sealed text that cannot be opened. The message says what the operator can do and contains neither text
 * nor key.
 */
export class SealError extends Error {
  override readonly name = 'SealError';
}

const version = 'v1';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a random 96-bit nonce per text (NIST SP 800-38D §8.2.2). The first of `keys` seals, all of
 * them open.
 */
export function createSealer(keys: readonly EncryptionKey[]) {
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const newest = keys[0];
  if (newest === undefined) throw new RangeError('at least one encryption key is needed');

  function keyOf(keyId: string): KeyObject {
    const key = byId.get(keyId);
    if (key !== undefined) return key;
    throw new SealError(
      `A stored secret was sealed with key "${keyId}", which ENCRYPTION_KEY does not contain. ` +
        `Add it behind the newest one (ENCRYPTION_KEY=new:…,${keyId}:…), or set the secret anew.`,
    );
  }

  return {
    /**
     * `v1.<key id>.<base64url of nonce, ciphertext and tag>`, made with the newest key. The place is not
     * stored, but the text opens in that place only.
     */
    seal(text: string, place: SealPlace): string {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', keyOf(newest.id), nonce, { authTagLength: tagBytes });
      cipher.setAAD(boundData(newest.id, place));
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${newest.id}.${body.toString('base64url')}`;
    },
    /**
     * The text that was sealed; throws `SealError` for an unknown key id, a wrong key or place, and any
     * changed character.
     */
    open(sealed: string, place: SealPlace): string {
      const { keyId, body } = parseSealed(sealed);
      const nonce = body.subarray(0, nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), nonce, { authTagLength: tagBytes });
      decipher.setAAD(boundData(keyId, place));
      decipher.setAuthTag(body.subarray(-tagBytes));
      try {
        return (
          decipher.update(body.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
        );
      } catch {
        throw new SealError(
          `The secret of ${placeName(place)} does not open with key "${keyId}" of ENCRYPTION_KEY: the key under that id is another one now, ` +
            'or the stored text was changed or moved. Put the former key back under its id, or set the secret anew.',
        );
      }
    },
    /** False when it should be sealed again, with a newer key. */
    isCurrent: (sealed: string) => sealed.startsWith(`${version}.${newest.id}.`),
  };
}

/** The id of the key that a sealed text names, or empty if it names none. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.', 2)[1] ?? '';
}

function parseSealed(sealed: string): { keyId: string; body: Buffer } {
  const [head, keyId, encoded, ...rest] = sealed.split('.');
  const body = Buffer.from(encoded ?? '', 'base64url');
  // Node skips characters that are not base64url; writing it back finds them.
  const isWhole = rest.length === 0 && body.toString('base64url') === encoded;
  if (!isWhole || head !== version || keyId === undefined || body.length < nonceBytes + tagBytes) {
    throw new SealError('A stored secret is not in the form that this version seals; set the secret anew.');
  }
  return { keyId, body };
}

// JSON keeps the parts apart, whatever characters they contain.
function boundData(keyId: string, { account, subscription, field, peer }: SealPlace): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, account, subscription, field, peer]), 'utf8');
}
