/**
 * The name of each outcome of docs/callback-outcomes.md, and a text: what it means, and what to do.
 * @type {Readonly<Record<string, readonly [name: string, text: string]>>}
 */
export const outcomes = {
  delivered: [
    'Delivered',
    'The endpoint acknowledged the event. Nothing needs to be done. “Send again” delivers it once more under the same event id.',
  ],
  gone: [
    'Gone',
    'The endpoint answered 410, so the subscription was disabled. Enable it once the endpoint is back: what it missed is delivered then. If the endpoint is gone for good, delete the subscription.',
  ],
  slow_down: [
    'Asked to wait',
    'The endpoint asked for a pause with Retry-After. Deliveries resume by themselves when the pause is over, after an hour at most.',
  ],
  redirect: [
    'Redirect',
    'The endpoint answered with a redirect, and redirects are never followed. Change the URL of the subscription to the address that the redirect leads to.',
  ],
  http_error: [
    'HTTP error',
    'The endpoint answered with an error. The response below and the log of the receiver say why.',
  ],
  mail_refused: [
    'E-mail refused',
    'The mail server refuses this recipient or this e-mail for good, so the event is given up. The reply below says why; “Send again” sends it once more.',
  ],
  mail_deferred: [
    'E-mail deferred',
    'The mail server did not take the e-mail yet. It is sent again by itself; the reply below says why.',
  ],
  timeout: [
    'Timeout',
    'No response came in time. The receiver should acknowledge with a 2xx first and work afterwards. Check that it is not overloaded.',
  ],
  dns_error: [
    'DNS error',
    'The host name of the URL does not resolve. Check the host name in the URL of the subscription, and its DNS records.',
  ],
  blocked_address: [
    'Blocked address',
    'The URL or the address of its host is not permitted. Nothing was sent. Use a public address, or ask the operator to permit this one (DELIVERY_ALLOW_CIDRS).',
  ],
  connection_refused: [
    'Connection refused',
    'Nothing listens at the address. Start the receiver, and check the port in the URL of the subscription.',
  ],
  connection_reset: [
    'Connection reset',
    'The connection was closed before a response came. See the log of the receiver and of any proxy in front of it.',
  ],
  unreachable: [
    'Unreachable',
    'There is no route to the host. Check the network and the firewall between the daemon and the endpoint.',
  ],
  tls_error: [
    'TLS error',
    'The TLS handshake failed, or the certificate is not trusted. Check that the certificate of the endpoint is valid, complete with its intermediates, and for this host name.',
  ],
  malformed_response: [
    'Malformed response',
    'The response is not HTTP/1.1. Check that the URL leads to a web server, and that the port is right.',
  ],
  response_too_large: [
    'Headers too large',
    'The headers of the response exceed 16 KiB. Let the receiver answer with fewer headers, such as cookies.',
  ],
  sender_error: [
    'Sender error',
    'The daemon could not send. The endpoint is not at fault. See the log of the daemon. The event is retried by itself and loses no attempt.',
  ],
  token_error: [
    'No token',
    'The token endpoint gave no token. Nothing was sent. The last error of the subscription says what to check.',
  ],
  proxy_refused: [
    'Refused by proxy',
    'The forward proxy did not connect to the endpoint. If others work, check the endpoint, then the rules of the proxy.',
  ],
  proxy_error: [
    'Proxy down',
    'The forward proxy does not work. Nothing was counted. Deliveries go on when it is back.',
  ],
  aborted: [
    'Aborted',
    'The daemon was stopping before a response came. Nothing needs to be done: the next process sends the event again at once.',
  ],
  expired: [
    'Expired',
    'The event left the log before it could be delivered. Ask the API for the present state of the filings.',
  ],
  unreadable: ['Unreadable', 'The stored event could not be read. See the log of the daemon.'],
};

/** @type {(status: number) => string | undefined} */
function adviceOn(status) {
  if (status === 401 || status === 403)
    return 'The receiver refuses the request: check that it has the right signing secret, and the custom headers that it expects.';
  if (status === 404 || status === 405)
    return 'Check the path in the URL of the subscription: the receiver has nothing there that takes a POST.';
  if (status === 413) return 'Let the receiver accept larger bodies, or choose the payload “thin”.';
  if (status === 429)
    return 'The receiver limits requests. With a Retry-After header it decides when deliveries resume.';
  if (status >= 400 && status < 500)
    return 'The receiver does not accept this request. The response below and its log say why.';
  return status >= 500 ? 'The receiver failed: its log says why.' : undefined;
}

/**
 * The name of an outcome for people; unknown ones as they are. Pure.
 * @param {string} outcome
 */
export function outcomeName(outcome) {
  return outcomes[outcome]?.[0] ?? outcome.replaceAll('_', ' ');
}

/**
 * Whether an outcome is a fault, shown as bad; pure.
 * @param {string} outcome
 */
export const isFault = (outcome) => !['delivered', 'aborted', 'slow_down', 'proxy_error'].includes(outcome);

/**
 * The meaning of an attempt's outcome, and what to do; pure.
 * @param {{ outcome: string, statusCode: number | null }} attempt
 * @returns {string}
 */
export function explain({ outcome, statusCode }) {
  const special = outcome === 'http_error' && statusCode !== null ? adviceOn(statusCode) : undefined;
  return special ?? outcomes[outcome]?.[1] ?? '';
}
