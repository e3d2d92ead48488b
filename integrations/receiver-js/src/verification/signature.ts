import { decodeBase64 } from './base64.ts';

/** What is needed to judge the signatures of one callback. */
export interface Signed {
  /** `webhook-id`, `.`, `webhook-timestamp`, `.` and the bytes of the body. */
  readonly content: Uint8Array<ArrayBuffer>;
  /** The entries of `webhook-signature`. */
  readonly signatures: readonly string[];
}

// Maximum of entries of one kind that are looked at: the daemon sends at most five, and each costs work before anything is verified.
const entriesMax = 5;

/** The content that is signed (Standard Webhooks, "Signature scheme"). */
export function signedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

/** Whether one of the `v1` entries was made with one of the keys; compared in constant time. */
export async function hasHmac(signed: Signed, keys: readonly CryptoKey[]): Promise<boolean> {
  const given = entriesOf('v1', signed.signatures, 32);
  if (given.length === 0) return false;
  let matches = false;
  for (const key of keys) {
    const expected = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed.content));
    for (const bytes of given) matches = isEqual(expected, bytes) || matches;
  }
  return matches;
}

/** Whether one of the `v1a` entries was made with the private key of one of the public keys. */
export async function hasEd25519(signed: Signed, keys: readonly CryptoKey[]): Promise<boolean> {
  for (const bytes of entriesOf('v1a', signed.signatures, 64))
    for (const key of keys)
      if (await crypto.subtle.verify('Ed25519', key, bytes, signed.content)) return true;
  return false;
}

function entriesOf(
  kind: 'v1' | 'v1a',
  signatures: readonly string[],
  length: number,
): Uint8Array<ArrayBuffer>[] {
  return signatures
    .filter((entry) => entry.startsWith(`${kind},`))
    .slice(0, entriesMax)
    .map((entry) => decodeBase64(entry.slice(kind.length + 1)))
    .filter((bytes) => bytes?.length === length)
    .filter((bytes) => bytes !== null);
}

// Takes the same time wherever the bytes differ. Both have the same length.
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = 0;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
