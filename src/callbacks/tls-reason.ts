const expired = "The endpoint's certificate has expired.";
const unknownAuthority =
  "The endpoint's certificate comes from an authority that is not trusted. Set tls.ca for a private one, and see that the endpoint sends its intermediate certificates.";

/** Codes of Node and of OpenSSL's verification of the endpoint's certificate. */
const reasons: Readonly<Record<string, string>> = {
  ERR_TLS_CLOSED:
    'The endpoint closed the connection right after the TLS handshake: it may refuse the certificate of the client, or require one (tls.cert).',
  ERR_TLS_CERT_ALTNAME_INVALID: "The endpoint's certificate is for another host name than that of the URL.",
  HOSTNAME_MISMATCH: "The endpoint's certificate is for another host name than that of the URL.",
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: "The endpoint's certificate is not valid yet.",
  CERT_REVOKED: "The endpoint's certificate is revoked.",
  CERT_UNTRUSTED: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_SSL_WRONG_VERSION_NUMBER: 'The port of the endpoint does not speak TLS.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The port of the endpoint does not speak TLS.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'The endpoint does not speak TLS 1.2 or 1.3.',
};

/**
 * Alerts of the endpoint, by the end of their code: OpenSSL has changed what stands before. In TLS 1.3 those
 * about the client's certificate arrive after the handshake, with the first read (RFC 8446 §4.4.2.4).
 */
const alerts: readonly (readonly [RegExp, string])[] = [
  [
    /ALERT_CERTIFICATE_REQUIRED$/,
    'The endpoint requires a certificate of the client: set tls.cert and tls.key.',
  ],
  [
    /ALERT_UNKNOWN_CA$/,
    'The endpoint refuses the certificate of tls.cert: it does not know its authority. Add the intermediate certificates to tls.cert.',
  ],
  [
    /ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_(?:EXPIRED|REVOKED|UNKNOWN)|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR)$/,
    'The endpoint refuses the certificate of the client, which may have expired or be revoked: see tls.cert.',
  ],
  [/ALERT_PROTOCOL_VERSION$/, 'The endpoint does not speak TLS 1.2 or 1.3.'],
  [
    /ALERT_HANDSHAKE_FAILURE$/,
    'The endpoint refuses the TLS handshake: it may require a certificate of the client (tls.cert), or shares no cipher.',
  ],
  [/ALERT_UNRECOGNIZED_NAME$/, 'The endpoint does not know the host name of the URL.'],
];

/**
 * Why one side refused the TLS connection, so that the endpoint has not read the request: a sentence for the
 * subscriber, with the remedy and without any text of the receiver. Null for all other codes.
 */
export function tlsReasonOf(code: string): string | null {
  return reasons[code] ?? alerts.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}
