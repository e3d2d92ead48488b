import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  describeCertificate,
  readCertificates,
  writeCertificates,
} from '../../../subscriptions/settings/certificates.ts';
import type { Tls } from '../../../subscriptions/settings/tls.ts';
import type { Subscription } from '../../../subscriptions/subscription.ts';
import { pinPattern } from '../../shared/patterns.ts';
import { invalidRequest } from '../../shared/problem.ts';
import { nullable, record, time } from '../../shared/schema.ts';

// Maximum characters: a chain of four certificates, a key of RSA with 4096 bits, a dozen authorities.
const certLengthMax = 16_384;
const keyLengthMax = 8_192;
const caLengthMax = 32_768;
const pinsMax = 5;

const cert = nullable(Type.String({ minLength: 1, maxLength: certLengthMax }), {
  description:
    'The certificate that callbacks show to the endpoint, followed by its intermediate certificates (PEM).',
});

const key = nullable(Type.String({ minLength: 1, maxLength: keyLengthMax }), {
  description: 'The private key of the certificate (PEM, without a passphrase). Never shown again.',
});

const ca = nullable(Type.String({ minLength: 1, maxLength: caLengthMax }), {
  description:
    'The authorities (PEM) that may have issued the certificate of the endpoint, instead of all public ones.',
});

const pin = Type.Unsafe<string | string[] | null>({
  type: ['string', 'array', 'null'],
  pattern: pinPattern,
  minItems: 1,
  maxItems: pinsMax,
  items: { type: 'string', pattern: pinPattern },
  description:
    'Base64 of the SHA-256 of the public key (SPKI) that the certificate of the endpoint must have, beside all other checks; several where the endpoint is about to change its key.',
  examples: ['sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
});

const description =
  'Mutual TLS and private authorities of an https endpoint; null = as for all others. PATCH replaces it as a whole: what is left out is gone.';

/** `tls` in requests. */
export const tlsInputSchema = nullable(
  Type.Object(
    {
      cert: Type.Optional(cert),
      key: Type.Optional(key),
      ca: Type.Optional(ca),
      pin: Type.Optional(pin),
    },
    { additionalProperties: false },
  ),
  { description },
);

const certificate = {
  subject: Type.String({ examples: ['CN=filing-webhooks, O=Example Ltd'] }),
  issuer: Type.String({ examples: ['CN=Example Issuing CA'] }),
  serialNumber: Type.String({ description: 'Hexadecimal.', examples: ['4a1f09c2'] }),
  fingerprint: Type.String({ description: 'SHA-256 of the certificate, hexadecimal.' }),
  notAfter: time('When it ends. `account.certificate_expiring` says so 30 days before, and then.'),
};

/** `tls` in responses. */
export const tlsSchema = nullable(
  record({
    cert: nullable(record(certificate), { description: 'The certificate that callbacks show.' }),
    ca: nullable(
      record({ certificates: Type.Integer({ description: 'Number of authorities.' }), ...certificate }),
      {
        description: 'The authority that ends first.',
      },
    ),
    pin: nullable(Type.Array(Type.String()), { description: 'Without `sha256/`.' }),
  }),
  { description: `${description} Shown without the key.` },
);

/** `tls` in a request that its schema has accepted. */
export type TlsInput = Static<typeof tlsInputSchema>;

/** Number of certificates that a body brings, which need not be valid. */
export function certificatesIn(body: unknown): number {
  const { tls } = (body ?? {}) as {
    readonly tls?: { readonly cert?: unknown; readonly ca?: unknown } | null;
  };
  return [tls?.cert, tls?.ca].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.split('-----BEGIN CERTIFICATE').length - 1 : 0),
    0,
  );
}

/** The setting from a checked body; no property where the body does not name it. */
export function tlsOf({ tls }: { readonly tls?: TlsInput | Tls }): { readonly tls?: Tls | null } {
  if (tls === undefined || tls === null) return tls === undefined ? {} : { tls };
  const own = readCertificates(tls.cert ?? '') ?? [];
  const trusted = readCertificates(tls.ca ?? '') ?? [];
  const [leaf] = own;
  const [first] = trusted.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime());
  const pins = typeof tls.pin === 'string' ? [tls.pin] : (tls.pin ?? null);
  return {
    tls: {
      cert: leaf === undefined ? null : writeCertificates(own),
      key: tls.key ?? null,
      ca: first === undefined ? null : writeCertificates(trusted),
      pin: pins?.map((each) => each.replace(/^sha256\/\/?(?=.{44}$)/, '')) ?? null,
      shown: {
        cert: leaf === undefined ? null : describeCertificate(leaf),
        ca: first === undefined ? null : { certificates: trusted.length, ...describeCertificate(first) },
      },
    },
  };
}

/** The setting as the API shows it: without the key. */
export function tlsView(tls: Tls | null | undefined): Static<typeof tlsSchema> {
  return tls == null ? null : { ...tls.shown, pin: tls.pin === null ? null : [...tls.pin] };
}

/** Refuses a subscription with `tls` whose URL is http: nothing would protect what it asks for. */
export function requireHttps({ url, tls }: Pick<Subscription, 'url' | 'tls'>): void {
  if (tls == null || URL.parse(url)?.protocol === 'https:') return;
  throw invalidRequest([{ path: 'tls', message: 'needs a URL with https' }]);
}
