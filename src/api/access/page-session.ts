import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Sessions of pages that browsers open by themselves, without an `Authorization` header. Nothing is stored:
 * every process with the same operator's token knows a session, and a new token ends them all.
 */
export interface PageSessions {
  /** The `Set-Cookie` that begins a session; `secure` where the browser speaks TLS. */
  begin(secure: boolean): string;
  /** The `Set-Cookie` that makes a browser forget its session. */
  readonly end: string;
  /** Whether a `Cookie` header holds a session that has not run out. */
  isValid(header: string | undefined): boolean;
}

const name = 'filing_webhooks_queues';
const sessionMs = 8 * 3_600_000;

// Without `Path` it is sent to where it was set and below (RFC 6265 §5.1.4), also behind a proxy that cuts
// off a path.
const attributes = 'HttpOnly; SameSite=Strict';

/** Sessions signed with the operator's token; `now` in milliseconds. */
export function createPageSessions(apiToken: string, now: () => number): PageSessions {
  const sign = (until: string) =>
    createHmac('sha256', apiToken).update(`${name} ${until}`).digest('base64url');
  return {
    begin(secure) {
      const until = String(now() + sessionMs);
      return `${name}=${until}.${sign(until)}; ${attributes}${secure ? '; Secure' : ''}`;
    },
    end: `${name}=; ${attributes}; Max-Age=0`,
    isValid(header = '') {
      const [, until = '0', signature = ''] = cookiePattern.exec(header) ?? [];
      return isSame(signature, sign(until)) && Number(until) > now();
    },
  };
}

const cookiePattern = new RegExp(`(?:^|; *)${name}=(\\d{1,15})\\.([\\w-]{43})(?:;|$)`);

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
