import { Problem } from './problem.ts';

// Schemes that clients send by mistake. A word that is none of them may be a token, and is not repeated.
const otherSchemes = new Set([
  'apikey',
  'aws4-hmac-sha256',
  'basic',
  'digest',
  'negotiate',
  'oauth',
  'token',
]);

const ended = 'The session has ended. Sign in again, or send "Authorization: Bearer <token>".';
const unknown =
  'This token is not known here: it may be mistyped, revoked or expired, or belong to another daemon.';

/**
 * The problem of a request without a valid token; `authorization` is its header. An unknown, a revoked and an
 * expired token read the same. `hadSession` says that it had the cookie of a session in its place.
 */
export function unauthorized(authorization: string | undefined, hadSession = false): Problem {
  // RFC 6750 §3.1: no error code for a request without any credentials.
  const challenge = `Bearer realm="filing-webhooks"${authorization === undefined ? '' : ', error="invalid_token"'}`;
  return new Problem('unauthorized', hadSession ? ended : faultOf(authorization), {
    headers: { 'www-authenticate': challenge },
  });
}

/** The same problem for a token that was valid when the request began, and is revoked since. */
export function tokenGone(): Problem {
  return unauthorized('Bearer gone');
}

function faultOf(authorization: string | undefined): string {
  const send = 'Send "Authorization: Bearer <token>" with the operator token or an account token.';
  if (authorization === undefined) return `There is no Authorization header. ${send}`;
  const [scheme = '', ...rest] = authorization.trim().split(/ +/);
  if (otherSchemes.has(scheme.toLowerCase()))
    return `The scheme of the Authorization header is ${scheme}, not Bearer. ${send}`;
  if (scheme.toLowerCase() !== 'bearer') {
    const fault =
      rest.length === 0 ? 'has no scheme in front of the token' : 'has another scheme than Bearer';
    return `The Authorization header ${fault}. ${send}`;
  }
  if (rest.length === 0) return `The Authorization header has no token. ${send}`;
  return rest.length === 1 ? unknown : `The token in the Authorization header holds a space. ${send}`;
}
