import { createPrivateKey, hash, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { cutText } from '../../json/cut-text.ts';
import { orNull } from '../../json/or-null.ts';
import { nullable, record, time } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import type { Option } from './option.ts';

/** Which certificates of a subscription end: its own, and the first of the authorities that it trusts. */
export const certificateKinds = ['cert', 'ca'] as const;

function pemInput(maxLength: number, text: string) {
  return Type.Optional(nullable(Type.String({ minLength: 1, maxLength }), { description: text }));
}

const description =
  'Mutual TLS and private authorities of an https endpoint; null = as for all others. PATCH replaces it as a whole: what is left out is gone.';

// `tls` in requests.
const tlsInput = nullable(
  record({
    // A chain of four certificates, a key of RSA with 4096 bits, a dozen authorities.
    cert: pemInput(
      16_384,
      'The certificate that callbacks show to the endpoint, followed by its intermediate certificates (PEM).',
    ),
    key: pemInput(
      8_192,
      'The private key of the certificate (PEM, without a passphrase). Never shown again.',
    ),
    ca: pemInput(
      32_768,
      'The authorities (PEM) that may have issued the certificate of the endpoint, instead of all public ones.',
    ),
  }),
  { description },
);

// Names as OpenSSL writes them, at most 500 characters.
const certificate = {
  subject: Type.String({ examples: ['CN=filing-webhooks, O=Example Ltd'] }),
  issuer: Type.String({ examples: ['CN=Example Issuing CA'] }),
  serialNumber: Type.String({ description: 'Hexadecimal.', examples: ['4a1f09c2'] }),
  fingerprint: Type.String({ description: 'SHA-256 of the certificate, hexadecimal.' }),
  notAfter: time('When it ends. `account.certificate_expiring` says so 30 days before, and then.'),
};

// `tls` in responses.
const tlsSchema = nullable(
  record({
    cert: nullable(record(certificate), { description: 'The certificate that callbacks show.' }),
    ca: nullable(
      record({ certificates: Type.Integer({ description: 'Number of authorities.' }), ...certificate }),
      { description: 'The authority that ends first.' },
    ),
  }),
  { description: `${description} Shown without the key.` },
);

/** The identity and the trust of TLS connections to an endpoint; null is as for all other endpoints. */
export interface Tls {
  /** The client's certificate with its chain (PEM). */
  readonly cert: string | null;
  /** The private key of the certificate (PEM). */
  readonly key: string | null;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly ca: string | null;
  /** As the API shows it: the certificate; the number of authorities, and the one that ends first. */
  readonly shown: NonNullable<Static<typeof tlsSchema>>;
}

/** The public facts of a certificate. */
export type Certificate = NonNullable<Tls['shown']['cert']>;

/** `tls` in a request that its schema has accepted. */
export type TlsInput = Static<typeof tlsInput>;

// Maximum numbers of certificates, and maximum bits of an RSA key: a signature with 4096 bits takes five
// milliseconds, of each new connection.
const certificatesMax = { cert: 10, ca: 50 } as const;
const rsaBitsMax = 4_096;
const keyTypes = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']);

/**
 * What is wrong with `tls` in a request that its schema has accepted, one mistake of each part. `now` is in
 * milliseconds. No message repeats a text of the request.
 */
export function tlsErrors(tls: TlsInput | undefined, now: number): FieldError[] {
  if (tls == null) return [];
  const { cert = null, key = null, ca = null } = tls;
  if (cert === null && key === null && ca === null)
    return [{ path: 'tls', message: 'is empty: give cert and key, or ca, or null for none' }];
  const mistakes = {
    cert: cert === null ? missing(key) : certificatesMistake(cert, 'cert', now),
    key: key === null ? missing(cert) : keyMistake(key, cert),
    ca: ca === null ? null : certificatesMistake(ca, 'ca', now),
  };
  const found = Object.entries(mistakes).flatMap(([part, message]) =>
    message === null ? [] : [{ path: `tls.${part}`, message }],
  );
  // Last, because OpenSSL says less about the same.
  return found.length > 0 ? found : contextErrors({ cert, key, ca });
}

// The errors of a subscription with `tls` whose URL is http: nothing would protect what it asks for.
function httpsErrors({ url, tls }: Pick<Subscription, 'url' | 'tls'>): FieldError[] {
  if (tls == null || URL.parse(url)?.protocol === 'https:') return [];
  return [{ path: 'tls', message: 'needs a URL with https' }];
}

function missing(other: string | null): string | null {
  return other === null ? null : 'is missing: a certificate and its private key go together';
}

// Also of a text that was quoted once too often.
const unreadable =
  'cannot be read: it has to be PEM with newlines, not with a backslash and an n, and a key without a passphrase (openssl pkey -in KEY)';

function certificatesMistake(text: string, part: 'cert' | 'ca', now: number): string | null {
  const found = readCertificates(text) ?? [];
  if (found.length === 0) return unreadable;
  if (found.length > certificatesMax[part]) return `has more than ${certificatesMax[part]} certificates`;
  const ended = found.findIndex(({ validToDate }) => validToDate.getTime() <= now);
  if (ended >= 0)
    return `holds a certificate that has expired, number ${ended + 1}: leave it out or replace it`;
  if (part === 'ca')
    return found.some((each) => each.ca) ? null : 'holds no authority (basicConstraints CA:TRUE)';
  if (found.some(({ validFromDate }) => validFromDate.getTime() > now)) return 'is not valid yet';
  const isChain = found.every((each, i) => i === 0 || found[i - 1]?.checkIssued(each));
  return isChain ? null : 'is out of order: give the certificate first, and behind each one its issuer';
}

function keyMistake(text: string, cert: string | null): string | null {
  const key = orNull(() => createPrivateKey(text));
  if (key === null) return unreadable;
  const isTooLarge = (key.asymmetricKeyDetails?.modulusLength ?? 0) > rsaBitsMax;
  if (isTooLarge || !keyTypes.has(key.asymmetricKeyType ?? ''))
    return `is neither RSA with at most ${rsaBitsMax} bits nor EC nor Ed25519`;
  const [first] = readCertificates(cert ?? '') ?? [];
  return first?.checkPrivateKey(key) === false ? 'does not belong to the first certificate' : null;
}

function contextErrors(identity: Omit<Tls, 'shown'>): FieldError[] {
  try {
    openContext(identity);
    return [];
  } catch (error) {
    const { reason = 'no reason given' } = error as { readonly reason?: string };
    const message = `is not accepted by OpenSSL (${reason}): use RSA with 2048 bits, EC or Ed25519, signed with SHA-256`;
    return [{ path: identity.cert === null ? 'tls.ca' : 'tls.cert', message }];
  }
}

/** Number of certificates that a body brings, which need not be valid. */
export function certificatesIn(body: unknown): number {
  const { tls } = (body ?? {}) as { readonly tls?: Readonly<Record<string, unknown>> | null };
  return [tls?.['cert'], tls?.['ca']].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.split('-----BEGIN CERTIFICATE').length - 1 : 0),
    0,
  );
}

/** The setting from a checked body; no property if the body does not name it. */
export function tlsOf({ tls }: { readonly tls?: TlsInput | Tls }): { readonly tls?: Tls | null } {
  if (tls === undefined || tls === null) return tls === undefined ? {} : { tls };
  const own = readCertificates(tls.cert ?? '') ?? [];
  const trusted = readCertificates(tls.ca ?? '') ?? [];
  const [leaf] = own;
  const [first] = trusted.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime());
  return {
    tls: {
      // Without anything between them.
      cert: own.map(String).join('') || null,
      key: tls.key ?? null,
      ca: trusted.map(String).join('') || null,
      shown: {
        cert: leaf === undefined ? null : describeCertificate(leaf),
        ca: first === undefined ? null : { certificates: trusted.length, ...describeCertificate(first) },
      },
    },
  };
}

const nameLengthMax = 500;
const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

// The certificates in a PEM text (RFC 7468), in their order; null if one cannot be read.
function readCertificates(pem: string): X509Certificate[] | null {
  const found = orNull(() => (pem.match(block) ?? []).map((text) => new X509Certificate(text)));
  return found?.every(({ validToDate }) => !Number.isNaN(validToDate.getTime())) === true ? found : null;
}

function describeCertificate(of: X509Certificate): Certificate {
  // A certificate may have no subject at all.
  const oneLine = (name: string | undefined) =>
    cutText((name ?? '').split('\n').join(', '), nameLengthMax).toWellFormed();
  return {
    subject: oneLine(of.subject),
    issuer: oneLine(of.issuer),
    serialNumber: of.serialNumber.toLowerCase(),
    fingerprint: of.fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: of.validToDate.toISOString(),
  };
}

/** The difference between connections to one origin: the client's certificate, and whom they trust. */
export interface ConnectionIdentity {
  /**
   * A digest of certificate, key and authorities. Connections and TLS sessions are shared only among
   * subscriptions of the same account with the same digest. It stays in this process.
   */
  readonly digest: string;
  readonly tls: Tls;
}

/** The identity of a subscription's connections; undefined if it has no TLS settings of its own. */
export function identityOf(tls: Tls | null | undefined): ConnectionIdentity | undefined {
  if (tls == null) return undefined;
  const { cert, key, ca } = tls;
  return { digest: hash('sha256', JSON.stringify([cert, key, ca])), tls };
}

/**
 * The certificate, the key and the trusted authorities in OpenSSL's form; up to two milliseconds of work for
 * a large bundle. A bundle replaces the system's authorities, and an intermediate authority in it needs no
 * root. Throws OpenSSL's error if it refuses them.
 */
export function openContext({ cert, key, ca }: Omit<Tls, 'shown'>): SecureContext {
  return createSecureContext({
    ...(cert === null || key === null ? {} : { cert, key }),
    ...(ca === null ? {} : { ca, allowPartialTrustChain: true }),
  });
}

/** The option `tls`, sealed at rest. */
export const tls = {
  input: { tls: Type.Optional(tlsInput) },
  shown: { tls: tlsSchema },
  errors: ({ tls: given }: { readonly tls?: TlsInput }, { now }) => tlsErrors(given, now),
  settingErrors: httpsErrors,
  stored: tlsOf,
  show: ({ tls: set }: Pick<Subscription, 'tls'>): { tls: Static<typeof tlsSchema> } => ({
    tls: set?.shown ?? null,
  }),
} satisfies Option;
