import { ConfigurationError } from '../errors.ts';
import { decodeBase64 } from './base64.ts';

/** One text with several keys separated by spaces or commas, as environment variables have them, or a list. */
export type KeyTexts = string | readonly string[];

/** Keys for `v1` from secrets (`whsec_…`); throws ConfigurationError where one is none. */
export async function importSecrets(texts: KeyTexts): Promise<CryptoKey[]> {
  return importAll(split(texts, 'secrets'), (text) => {
    const bytes = decodeBase64(text.replace(/^whsec_/, ''));
    if (bytes === null || bytes.length < 24 || bytes.length > 64)
      throw new ConfigurationError(
        'A secret is not whsec_ and the base64 of 24 to 64 bytes: copy it from the answer that registered the subscription, or make a new one with rotate-secret.',
      );
    return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  });
}

/** Keys for `v1a` from public keys (`whpk_…`); throws ConfigurationError where one is none. */
export async function importPublicKeys(texts: KeyTexts): Promise<CryptoKey[]> {
  return importAll(split(texts, 'publicKeys'), (text) => {
    const bytes = decodeBase64(text.replace(/^whpk_/, ''));
    if (bytes?.length !== 32)
      throw new ConfigurationError(
        'A public key is not whpk_ and the base64 of 32 bytes: copy it from publicKeys of the subscription.',
      );
    return importEd25519(bytes);
  });
}

/** A public key from its 32 bytes (RFC 8032). */
export function importEd25519(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify']);
}

/** The error of an option that is given and has nothing in it, as where a variable of the environment is not set. */
export function emptyOption(option: string): ConfigurationError {
  const variable = option === 'secrets' ? 'WEBHOOK_SECRET' : 'its variable';
  return new ConfigurationError(
    `\`${option}\` is empty: is ${variable} set? Nothing can be verified without it.`,
  );
}

function split(texts: KeyTexts, option: string): string[] {
  const all = [texts]
    .flat()
    .flatMap((text) => String(text ?? '').split(/[\s,]+/))
    .filter((text) => text !== '');
  if (all.length === 0) throw emptyOption(option);
  return all;
}

function importAll(texts: readonly string[], importOne: (text: string) => Promise<CryptoKey>) {
  return Promise.all(texts.map(importOne));
}
