import type { FastifyReply, FastifyRequest } from 'fastify';

/** Where the page runs: in a tab of its own, or in a frame of a configured origin. */
export type PageMode = 'page' | 'frame';

/** The header with the mode, which a request needs for its cookie to count. */
const pageHeader = 'x-filing-webhooks';

/** The facts of a request on which it depends whether its cookie counts. */
export interface CookieFacts {
  readonly mode: string | string[] | undefined;
  /** `Sec-Fetch-Site` (W3C Fetch Metadata). */
  readonly site: string | string[] | undefined;
  readonly origin: string | undefined;
  /** The host to which the request was sent, with its port. */
  readonly host: string;
  readonly publicUrl: string | null;
}

/**
 * The mode of the page that sent a request, or null where its cookie does not count; pure. A browser lets no
 * other origin send the header without a preflight, which the API refuses. Where the browser says more about
 * the origin, that has to fit too.
 */
function pageModeOf({ mode, site, origin, host, publicUrl }: CookieFacts): PageMode | null {
  if (mode !== 'page' && mode !== 'frame') return null;
  if (site !== undefined) return site === 'same-origin' ? mode : null;
  if (origin === undefined) return mode;
  const from = URL.parse(origin);
  const isOwn = from?.host === host || (publicUrl !== null && from?.origin === URL.parse(publicUrl)?.origin);
  return isOwn ? mode : null;
}

/** The same for a request. */
export function modeOfRequest({ headers, host }: FastifyRequest, publicUrl: string | null): PageMode | null {
  const { [pageHeader]: mode, 'sec-fetch-site': site, origin } = headers;
  return pageModeOf({ mode, site, origin, host, publicUrl });
}

/**
 * The text of the session in a request's cookie; null where there is none. A cookie that was set over https
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
