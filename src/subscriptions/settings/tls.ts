import type { Certificate } from './certificates.ts';

/** The identity and the trust of TLS connections to an endpoint; null is as for all other endpoints. */
export interface Tls {
  /** The client's certificate with its chain (PEM). */
  readonly cert: string | null;
  /** The private key of the certificate (PEM). */
  readonly key: string | null;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly ca: string | null;
  /**
   * Base64 of the SHA-256 of public keys (SPKI, RFC 7469 §2.4), one of which the endpoint's certificate has.
   */
  readonly pin: readonly string[] | null;
  /** As the API shows it: what can be read of the certificate and of the authorities. */
  readonly shown: ShownTls;
}

/** The public facts of an identity. */
export interface ShownTls {
  readonly cert: Certificate | null;
  /** The number of authorities, and the one that ends first. */
  readonly ca: (Certificate & { readonly certificates: number }) | null;
}

/** Which certificates of a subscription end: its own, and the first of the authorities that it trusts. */
export const certificateKinds = ['cert', 'ca'] as const;

/** One of them. */
export type CertificateKind = (typeof certificateKinds)[number];

/** A certificate that ends. */
export interface Ending {
  readonly kind: CertificateKind;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

/** The certificates of a subscription, with their ends. */
export function endingsOf(tls: Pick<Tls, 'shown'> | null | undefined): readonly Ending[] {
  return certificateKinds.flatMap((kind) => {
    const certificate = tls?.shown[kind] ?? null;
    return certificate === null ? [] : [{ kind, notAfter: Date.parse(certificate.notAfter) }];
  });
}
