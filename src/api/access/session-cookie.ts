import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem, shorten } from '../shared/problem.ts';

/** Where the page runs: in its own tab, or in a frame of a configured origin. */
export type PageMode = 'page' | 'frame';

// Maximum characters of a header that a refusal repeats.
const shownMax = 200;
/** The header with the mode, which a request needs for its cookie to count. */
const pageHeader = 'x-filing-webhooks';

/**
 * The mode of the page that sent a request, or null if its cookie does not count. A browser lets no other
 * origin send the header without a preflight, which the API refuses. `Sec-Fetch-Site` (W3C Fetch Metadata)
 * must be `same-origin` if the browser sends it.
 */
export function modeOfRequest({ headers }: FastifyRequest): PageMode | null {
  const { [pageHeader]: mode, 'sec-fetch-site': site } = headers;
  const isOwn = site === undefined || site === 'same-origin';
  return isOwn && (mode === 'page' || mode === 'frame') ? mode : null;
}

/**
 * Throws unless the `Origin` of a request with a cookie, if it has one, is the host to which it was sent or
 * PUBLIC_URL. Browsers send no `Sec-Fetch-Site` over plain http.
 */
export function refuseForeignOrigin({ headers, host }: FastifyRequest, publicUrl: string | null): void {
  const { 'sec-fetch-site': site, origin } = headers;
  if (site !== undefined || origin === undefined) return;
  const from = URL.parse(origin);
  if (from?.host === host || (publicUrl !== null && from?.origin === URL.parse(publicUrl)?.origin)) return;
  throw new Problem(
    'foreign_origin',
    `The page is at ${shorten(origin, shownMax)}, and the request arrived for the host ${shorten(host, shownMax)}. If a proxy in between changes Host, ` +
      'let it pass the one of the browser (nginx: proxy_set_header Host $http_host), or set PUBLIC_URL to the address of the page.',
  );
}

/**
 * The text of the session in a request's cookie; null if there is none. A cookie that was set over https
 * comes first.
 */
export function sessionText(request: FastifyRequest, mode: PageMode): string | null {
  const { cookie } = request.headers;
  if (cookie === undefined) return null;
  const cookies = request.server.parseCookie(cookie);
  return cookies[nameOf(request, mode, true)] ?? cookies[nameOf(request, mode, false)] ?? null;
}

/** A cookie to be set. */
interface NewCookie {
  readonly text: string;
  readonly mode: PageMode;
  /** Seconds after which the browser drops it. */
  readonly maxAge: number;
  readonly publicUrl: string | null;
}

/**
 * Sets the cookie of a session: for scripts out of reach, for this host alone, and over https also for https
 * alone. `Strict` costs nothing, because the page itself needs no cookie: a link from elsewhere opens it, and
 * then it asks the API itself. In a frame of another site only a partitioned cookie for https comes back
 * (CHIPS).
 */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { text, mode, maxAge, publicUrl }: NewCookie,
): void {
  const secure = mode === 'frame' || isSecure(request, publicUrl);
  void reply.setCookie(nameOf(request, mode, secure), text, { ...attributes(mode, secure), maxAge });
}

/** Removes the cookie of this mode from the browser. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply, mode: PageMode): void {
  const { cookie = '' } = request.headers;
  for (const secure of [true, false]) {
    const name = nameOf(request, mode, secure);
    if (cookie.includes(`${name}=`)) void reply.clearCookie(name, attributes(mode, secure));
  }
}

function attributes(mode: PageMode, secure: boolean) {
  const common = { path: '/', httpOnly: true, secure };
  return mode === 'frame'
    ? ({ ...common, sameSite: 'none', partitioned: true } as const)
    : ({ ...common, sameSite: 'strict' } as const);
}

// Browsers do not tell the ports of a host apart, so the name does: two daemons of one host do not sign each
// other's users out.
function nameOf({ port }: FastifyRequest, mode: PageMode, secure: boolean): string {
  const place = typeof port === 'number' ? `-${port}` : '';
  return `${secure ? '__Host-' : ''}filing-webhooks${mode === 'frame' ? '-frame' : ''}${place}`;
}

// A proxy that is not trusted hides that the browser speaks https; the origin that the browser sends does
// not.
function isSecure({ protocol, headers, host }: FastifyRequest, publicUrl: string | null): boolean {
  const known = publicUrl === null ? null : URL.parse(publicUrl);
  return (
    protocol === 'https' ||
    headers.origin?.startsWith('https://') === true ||
    (known?.protocol === 'https:' && known.host === host)
  );
}
