import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { openContext } from '../../../callbacks/tls/identity.ts';
import type { FieldError } from '../../../json/validation-problems.ts';
import { readCertificates } from '../../../subscriptions/settings/certificates.ts';
import { tlsOf, type TlsInput } from './tls.ts';
import { cutText } from '../../../json/cut-text.ts';

// Maximum numbers of certificates, and maximum bits of an RSA key: a signature with 4096 bits takes five
// milliseconds, of each new connection.
const chainMax = 10;
const authoritiesMax = 50;
const rsaBitsMax = 4_096;
const keyTypes = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']);

/** A mistake in one part of `tls`, for which the search for others in that part ends. */
class Mistake extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = `tls.${path}`;
  }
}

/**
 * What is wrong with `tls` in a request that its schema has accepted. `now` is in milliseconds. No
 * message repeats a text of the request, except the name of a certificate.
 */
export function tlsErrors(tls: TlsInput | undefined, now: number): FieldError[] {
  if (tls == null) return [];
  const { cert = null, key = null, ca = null, pin = null } = tls;
  if (cert === null && key === null && ca === null && pin === null)
    return [{ path: 'tls', message: 'is empty: give cert and key, ca or pin, or null for none' }];
  const errors = [
    ...mistakesOf(() => checkIdentity(cert, key, now)),
    ...mistakesOf(() => {
      if (ca !== null) checkAuthorities(ca, now);
    }),
  ];
  // Last, because OpenSSL says less about the same.
  return errors.length > 0 ? errors : mistakesOf(() => checkContext(tls));
}

function mistakesOf(check: () => void): FieldError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return [{ path: error.path, message: error.message }];
  }
}

function checkIdentity(cert: string | null, key: string | null, now: number): void {
  if (cert === null && key === null) return;
  if (cert === null) throw new Mistake('cert', 'is missing: the key is used with its certificate only');
  if (key === null) throw new Mistake('key', 'is missing: give the private key of the certificate');
  const chain = readPem('cert', cert);
  if (chain.length > chainMax) throw new Mistake('cert', `has more than ${chainMax} certificates`);
  const privateKey = readKey(key);
  const [leaf] = chain;
  if (leaf === undefined || !leaf.checkPrivateKey(privateKey)) {
    const isFurther = chain.some((each) => each.checkPrivateKey(privateKey));
    throw isFurther
      ? new Mistake(
          'cert',
          'does not begin with the certificate of the key: give that first, then its issuers',
        )
      : new Mistake('key', 'does not belong to the certificate');
  }
  for (const [i, each] of chain.entries()) {
    checkValidity('cert', each, i, now);
    const issuer = chain[i + 1];
    if (issuer !== undefined && !each.checkIssued(issuer))
      throw new Mistake('cert', `holds ${named(issuer, i + 1)} behind a certificate that it has not issued`);
  }
}

function checkAuthorities(ca: string, now: number): void {
  const authorities = readPem('ca', ca);
  if (authorities.length > authoritiesMax)
    throw new Mistake('ca', `has more than ${authoritiesMax} certificates`);
  if (!authorities.some((each) => each.ca))
    throw new Mistake(
      'ca',
      'holds no certificate of an authority (basicConstraints CA:TRUE): give the one that issued the certificate of the endpoint; to hold the endpoint to its key, use pin',
    );
  for (const [i, each] of authorities.entries())
    if (each.validToDate.getTime() <= now)
      throw new Mistake(
        'ca',
        `holds ${named(each, i)}, which ended on ${day(each.validToDate)}: leave it out`,
      );
}

function checkValidity(path: string, each: X509Certificate, i: number, now: number): void {
  if (each.validToDate.getTime() <= now)
    throw new Mistake(path, `holds ${named(each, i)}, which ended on ${day(each.validToDate)}`);
  if (each.validFromDate.getTime() > now)
    throw new Mistake(
      path,
      `holds ${named(each, i)}, which is not valid before ${each.validFromDate.toISOString()}`,
    );
}

function readPem(path: 'cert' | 'ca', text: string): X509Certificate[] {
  if (/PRIVATE KEY-----/.test(text))
    throw new Mistake(path, 'holds a private key, which belongs in tls.key only');
  refuseEscaped(path, text);
  const certificates = readCertificates(text);
  if (certificates === null) throw new Mistake(path, 'holds a certificate that cannot be read');
  if (certificates.length === 0)
    throw new Mistake(path, 'is not PEM: it has no line -----BEGIN CERTIFICATE-----');
  return certificates;
}

// As a text looks that was quoted once too often.
function refuseEscaped(path: string, text: string): void {
  if (text.includes('\\n'))
    throw new Mistake(path, 'has a backslash and an n where its lines end: they have to be newlines');
}

function readKey(text: string): KeyObject {
  refuseEscaped('key', text);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new Mistake('key', 'is not PEM: it has no line -----BEGIN PRIVATE KEY-----');
  if (text.includes('ENCRYPTED'))
    throw new Mistake(
      'key',
      'is encrypted with a passphrase: give it without (openssl pkey -in KEY); it is sealed here',
    );
  const key = readPrivateKey(text);
  const type = key.asymmetricKeyType ?? '';
  if (!keyTypes.has(type)) throw new Mistake('key', 'is neither RSA nor EC nor Ed25519');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > rsaBitsMax)
    throw new Mistake('key', `has more than ${rsaBitsMax} bits`);
  return key;
}

function readPrivateKey(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw new Mistake('key', 'cannot be read');
  }
}

function checkContext(tls: NonNullable<TlsInput>): void {
  const { tls: settings } = tlsOf({ tls });
  if (settings == null) return;
  try {
    openContext(settings);
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    const isWeak = /too small|too weak/.test(text);
    throw new Mistake(
      settings.cert === null ? 'ca' : 'cert',
      isWeak
        ? 'is too weak for OpenSSL: use RSA with 2048 bits, EC or Ed25519, signed with SHA-256'
        : 'is not accepted by OpenSSL',
    );
  }
}

function named(certificate: X509Certificate, i: number): string {
  const name = /(?:^|\n)CN=(.*)/.exec(certificate.subject ?? '')?.[1];
  return `certificate ${i + 1}${name === undefined ? '' : ` (${cutText(name, 100).toWellFormed()})`}`;
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}
