import { isIP } from 'node:net';

/** Maximum bytes of the answer to CONNECT, its status line and headers together. */
export const connectHeadBytesMax = 16_384;

/** An answer to CONNECT as far as it has arrived. */
export type ConnectHead =
  | { readonly kind: 'incomplete' }
  /** `rest` are the bytes after the headers. */
  | { readonly kind: 'answer'; readonly status: number; readonly rest: Buffer }
  | { readonly kind: 'malformed' | 'too_large' };

const end = Buffer.from('\r\n\r\n');
const statusLine = /^HTTP\/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?\r\n/;
const preamble = Buffer.from('HTTP/1.');

/** Host and port as a request for a tunnel names them (RFC 9110 §7.2); the host has no brackets. */
export function authorityOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The request for a tunnel (RFC 9110 §9.3.6). `authorization` is that of the proxy, null for none. */
export function connectRequest(authority: string, authorization: string | null): string {
  const credentials = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nuser-agent: filing-webhooks\r\n${credentials}\r\n`;
}

/** Reads the answer to CONNECT from its beginning; interim responses (1xx) are passed over. */
export function readConnectHead(bytes: Buffer): ConnectHead {
  const incomplete = { kind: bytes.length > connectHeadBytesMax ? 'too_large' : 'incomplete' } as const;
  for (let from = 0; ;) {
    const beginning = bytes.subarray(from, from + preamble.length);
    if (!preamble.subarray(0, beginning.length).equals(beginning)) return { kind: 'malformed' };
    const at = bytes.indexOf(end, from);
    const to = at + end.length;
    if (at === -1 || to > connectHeadBytesMax) return incomplete;
    const status = Number(statusLine.exec(bytes.subarray(from, to).toString('latin1'))?.[1] ?? 0);
    if (status === 0) return { kind: 'malformed' };
    if (status >= 200) return { kind: 'answer', status, rest: bytes.subarray(to) };
    from = to;
  }
}
