/**
 * What browsers are told of every page of the daemon: it may run, style and fetch what comes from the daemon;
 * nothing inline, nothing from elsewhere, in no frame. `baseUri` is `'self'` only for a page that stands on a
 * `base` element.
 */
export function pageHeaders(baseUri: 'none' | 'self'): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    `base-uri '${baseUri}'`,
    "form-action 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  };
}
