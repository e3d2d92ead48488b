import { X509Certificate } from 'node:crypto';
import tls from 'node:tls';

/** An authority that a supported Node.js or a system may still trust although it was withdrawn. */
export interface WithdrawnAuthority {
  readonly name: string;
  /** SHA-256 of its certificate, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly source: string;
}

const nss =
  'https://raw.githubusercontent.com/mozilla-firefox/firefox/main/security/nss/doc/src/releases/nss_3_131_1.md';

/**
 * The keys of eight intermediate authorities of eMudhra became public in October 2026 (CVE-2026-111943).
 * Their chains lead to the first of these, and by a cross-signature to the last one. Node.js 24.22.1 does
 * not bring any of them.
 */
export const withdrawnAuthorities: readonly WithdrawnAuthority[] = [
  {
    name: 'emSign ECC Root CA - G3',
    fingerprint: '86a1ecba089c4a8d3bbe2734c612ba341d813e043cf9e8a862cd5c57a36bbe6b',
    source: nss,
  },
  {
    name: 'emSign Root CA - C1',
    fingerprint: '125609aa301da0a249b97a8239cb6a34216f44dcac9f3954b14292f2e8c8608f',
    source: nss,
  },
  {
    name: 'emSign ECC Root CA - C3',
    fingerprint: 'bc4d809b15189d78db3e1d8cf4f9726a795da1643ca5f1358e1ddb0edc0d7eb3',
    source: nss,
  },
  {
    name: 'AAA Certificate Services',
    fingerprint: 'd7a7a0fb5d7e2731d771e9484ebcdef71d5f0c3e0a2948782bc83ee0ea699ef4',
    source: 'https://www.appsignal.com/changelog/nodejs/2026-10-23-10-12-node.js-3.9.4',
  },
];

/**
 * Takes the withdrawn authorities out of those that this process trusts, also out of NODE_EXTRA_CA_CERTS, for
 * all TLS connections from now on that have no `ca` of their own. Changes nothing in Node.js before 24.5,
 * which has no way to do it.
 */
export function refuseWithdrawnAuthorities(): void {
  if (tls.setDefaultCACertificates === undefined) return;
  const refused = new Set(withdrawnAuthorities.map(({ fingerprint }) => fingerprint));
  const trusted = tls.getCACertificates('default');
  const kept = trusted.filter((certificate) => !refused.has(fingerprintOf(certificate)));
  if (kept.length < trusted.length) tls.setDefaultCACertificates(kept);
}

function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase();
}
