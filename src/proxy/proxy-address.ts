import { isIP } from 'node:net';

/** A forward proxy, as a variable such as `EGRESS_PROXY` names it. */
export interface ProxyAddress {
  /** Whether the connection to the proxy itself is TLS. */
  readonly isSecure: boolean;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization` (RFC 7617), a secret; null if there are no credentials. */
  readonly authorization: string | null;
}

/** The address, or what is wrong with its text, which completes "NAME …" and never repeats it. */
export type ProxyAddressResult =
  { readonly ok: true; readonly value: ProxyAddress } | { readonly ok: false; readonly problem: string };

const expected = 'must be http:// or https:// with a host and, where it has one, a port; no path';

/**
 * Reads `http://user:password@host:port` or the same with `https://`. The port defaults to 80 or 443, by
 * scheme. User and password are percent-decoded (RFC 3986 §2.1) and sent as UTF-8.
 */
export function parseProxyAddress(text: string): ProxyAddressResult {
  const url = /^https?:\/\//i.test(text) && !/[\s\p{Cc}]/u.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === '' || url.pathname !== '/' || /[?#]/.test(text))
    return { ok: false, problem: expected };
  if (url.port === '0') return { ok: false, problem: 'must not name port 0' };
  const credentials = credentialsOf(url);
  if (credentials === null)
    return { ok: false, problem: 'has a user or password with a character that must be percent-encoded' };
  const isSecure = url.protocol === 'https:';
  const value = {
    isSecure,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (isSecure ? 443 : 80),
    authorization: credentials === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
  return { ok: true, value };
}

/** The address as logs may show it: credentials are masked. */
export function maskedProxy({ isSecure, host, port, authorization }: ProxyAddress): string {
  const named = isIP(host) === 6 ? `[${host}]` : host;
  return `${isSecure ? 'https' : 'http'}://${authorization === null ? '' : '***@'}${named}:${port}`;
}

// Empty if there are no credentials, null if they cannot be sent.
function credentialsOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return '';
  try {
    const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
    // RFC 7617 §2: the colon ends the user, and neither part has control characters.
    return /[:\p{Cc}]/u.test(user) || /\p{Cc}/u.test(secret) ? null : `${user}:${secret}`;
  } catch {
    return null;
  }
}
