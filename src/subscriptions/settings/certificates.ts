import { X509Certificate } from 'node:crypto';
import { cutText } from '../../json/cut-text.ts';

/** The public facts of a certificate. */
export interface Certificate {
  /** Distinguished names as OpenSSL writes them, `CN=…, O=…`; at most 500 characters. */
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serialNumber: string;
  /** SHA-256 of the certificate, hexadecimal in lower case. */
  readonly fingerprint: string;
  /** ISO 8601 in UTC. */
  readonly notAfter: string;
}

const nameLengthMax = 500;
const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificates in a PEM text (RFC 7468), in their order; null where one cannot be read. Text between them
 * is passed over.
 */
export function readCertificates(pem: string): X509Certificate[] | null {
  try {
    const found = (pem.match(block) ?? []).map((text) => new X509Certificate(text));
    return found.every(({ validToDate }) => !Number.isNaN(validToDate.getTime())) ? found : null;
  } catch {
    return null;
  }
}

/** The same certificates as one PEM text, without anything between them. */
export function writeCertificates(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('');
}

/** The public facts of a certificate. */
export function describeCertificate(certificate: X509Certificate): Certificate {
  const { subject, issuer, serialNumber, fingerprint256, validToDate } = certificate;
  return {
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    serialNumber: serialNumber.toLowerCase(),
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: validToDate.toISOString(),
  };
}

// A certificate may have no subject at all.
function oneLine(name: string | undefined): string {
  return cutText((name ?? '').split('\n').join(', '), nameLengthMax).toWellFormed();
}
