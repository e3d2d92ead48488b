/** The bytes of base64 or base64url text; null where it is neither. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return null;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
