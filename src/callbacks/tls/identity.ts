import { hash, type KeyObject } from 'node:crypto';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { Tls } from '../../subscriptions/settings/tls.ts';

/** The difference between connections to one origin: the client's certificate, and whom they trust. */
export interface ConnectionIdentity {
  /**
   * A digest of certificate, key, authorities and pins. Connections are shared only among
   * subscriptions of the same account with the same digest. It stays in this process.
   */
  readonly digest: string;
  readonly tls: Tls;
}

/** The identity of a subscription's connections; undefined where its TLS is that of all others. */
export function identityOf(tls: Tls | null | undefined): ConnectionIdentity | undefined {
  if (tls == null) return undefined;
  const { cert, key, ca, pin } = tls;
  return { digest: hash('sha256', JSON.stringify([cert, key, ca, pin])), tls };
}

/**
 * The certificate, the key and the trusted authorities as OpenSSL holds them; up to two milliseconds of work
 * for a large bundle. A bundle replaces the system's authorities, and an intermediate authority in it needs
 * no root. Throws OpenSSL's error where it does not take them.
 */
export function openContext({ cert, key, ca }: Tls): SecureContext {
  return createSecureContext({
    ...(cert === null || key === null ? {} : { cert, key }),
    ...(ca === null ? {} : { ca, allowPartialTrustChain: true }),
  });
}

/** The endpoint's public key is none of those that are pinned. */
export class PinMismatchError extends Error {
  override readonly name = 'PinMismatchError';
  readonly code = 'ERR_TLS_PIN_MISMATCH';

  constructor() {
    super('the public key of the endpoint is not pinned');
  }
}

/**
 * Whether a new connection shows one of the pinned public keys; true where none is pinned. A resumed TLS
 * session would show none.
 */
export function showsPinnedKey({ pin }: Tls, socket: TLSSocket): boolean {
  if (pin === null) return true;
  const certificate = socket.getPeerX509Certificate();
  return certificate !== undefined && pin.includes(pinOf(certificate.publicKey));
}

function pinOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64');
}
