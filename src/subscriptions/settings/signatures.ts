/** The signatures of Standard Webhooks: `v1` is HMAC-SHA256, `v1a` is ed25519. In the order of the header. */
export const signatureVersions = ['v1', 'v1a'] as const;

/** The version of a signature, which names its algorithm. */
export type SignatureVersion = (typeof signatureVersions)[number];

/** The setting as it is stored: null or absent for `v1` alone. */
export type Signatures = readonly SignatureVersion[] | null;

/** The signatures of a subscription's callbacks, at least one, in the order of the header. */
export function signaturesOf({
  signatures = null,
}: {
  readonly signatures?: Signatures;
}): readonly SignatureVersion[] {
  return signatures ?? ['v1'];
}

/** The setting in the form in which it is stored. */
export function toSignatures(given: readonly SignatureVersion[]): Signatures {
  const asked = signatureVersions.filter((version) => given.includes(version));
  return asked.includes('v1a') ? asked : null;
}

/** Whether callbacks carry a signature that a public key verifies. */
export function hasPublicKeys(settings: { readonly signatures?: Signatures }): boolean {
  return signaturesOf(settings).includes('v1a');
}
