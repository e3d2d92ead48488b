import Negotiator from 'negotiator';

// Maximum characters of an `Accept-Encoding` that is read; browsers send fewer than fifty.
const codingsLengthMax = 1_024;

/**
 * Whether an `Accept-Encoding` header prefers gzip to the body as it is (RFC 9110 §12.5.3). A request
 * without the header, or with one of more than 1 024 characters, gets the body as it is.
 */
export function takesGzip(header: string | undefined): boolean {
  if (header === undefined || header.length > codingsLengthMax) return false;
  const headers = { 'accept-encoding': header };
  return new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
}

/**
 * Whether an `If-None-Match` header names the weak tag `etag`, so the client's copy is current (RFC 9110
 * §13.1.2). Tags are compared weakly (§8.8.3.2), and `*` names every tag.
 */
export function hasCurrentCopy(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.includes(etag.replace(/^W\//, '')));
}
