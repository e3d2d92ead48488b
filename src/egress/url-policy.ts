import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describeAddress, isMappedIpv4 } from './address-policy.ts';
import type { EgressPolicy } from './address-policy.ts';
import { BlockedAddressError, lookupVetted, type VettingDeps } from './vetted-lookup.ts';

/** Maximum characters of a URL. */
export const callbackUrlLengthMax = 2048;

/**
 * The sentence for every refusal that depends on what a name resolves to, and for every refusal when a
 * callback is due. It reveals nothing about the host behind a name.
 */
export const refusedDestination =
  'The endpoint does not lead to public addresses on a permitted port; the operator opens private networks with DELIVERY_ALLOW_CIDRS.';

const tooLong = `it is longer than ${callbackUrlLengthMax} characters`;
const opened = 'the operator opens it with DELIVERY_ALLOW_CIDRS';

/**
 * A callback URL in its final form, or what is wrong with it, for the subscriber. The problem that
 * `checkCallbackUrl` names follows from the text of the URL and the settings alone: it is nothing new to its
 * author.
 */
export type UrlCheck =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string };

/** The rules for callback URLs. */
export interface UrlRules {
  readonly allowHttp: boolean;
  readonly policy: EgressPolicy;
}

/**
 * Judges a callback URL without asking a resolver. The text is parsed first (WHATWG URL) and the parsed host
 * is classified: decimal, hexadecimal, octal, short, full-width and percent-encoded addresses count as the
 * address they lead to. `url.href` is the normalised form.
 */
export function checkCallbackUrl(text: string, rules: UrlRules): UrlCheck {
  if (text.length > callbackUrlLengthMax) return refuse(tooLong);
  const misspelt = spellingProblem(text, rules.allowHttp);
  if (misspelt !== null) return refuse(misspelt);
  const url = URL.parse(text);
  if (url === null) return refuse('its host or port is not valid');
  const misled = portProblem(url.port) ?? hostProblem(unbracketed(url.hostname), rules.policy);
  if (misled !== null) return refuse(misled);
  // Percent-encoding makes the text longer, and each callback is judged by the normalised form.
  return url.href.length > callbackUrlLengthMax ? refuse(tooLong) : { ok: true, url };
}

/**
 * Resolves the host of a URL that passed checkCallbackUrl, for an early refusal at registration. `owner` is
 * the one whose lookup it is. A host that does not resolve within `timeoutMs` passes: every address is vetted
 * again when it is dialled.
 */
export async function resolveCallbackHost(
  url: URL,
  deps: VettingDeps & { readonly timeoutMs: number },
): Promise<UrlCheck> {
  const timer = new AbortController();
  const blocked = lookupVetted(unbracketed(url.hostname), deps).then(
    () => false,
    (error: unknown) => error instanceof BlockedAddressError,
  );
  const overdue = delay(deps.timeoutMs, false, { signal: timer.signal }).catch(() => false);
  try {
    return (await Promise.race([blocked, overdue])) ? refuse(refusedDestination) : { ok: true, url };
  } finally {
    timer.abort();
  }
}

function refuse(problem: string): UrlCheck {
  return { ok: false, problem };
}

/**
 * What is wrong with the text, before it is parsed. The parser silently drops tabs and newlines, trims
 * control characters and turns backslashes into slashes; it would also take `https:host` and `https:///host`.
 */
function spellingProblem(text: string, allowHttp: boolean): string | null {
  if (/\s/u.test(text)) return 'it contains whitespace';
  if (/\p{Cc}/u.test(text)) return 'it contains a control character';
  if (text.includes('\\')) return 'it contains a backslash';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return `it does not begin with https://${allowHttp ? ' or http://' : ''}`;
  if (scheme === 'http' && !allowHttp)
    return 'it must begin with https:// (for development: DELIVERY_ALLOW_HTTP=true)';
  if (scheme !== 'http' && scheme !== 'https')
    return `it must begin with https://${allowHttp ? ' or http://' : ''}`;
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  if (authority === '') return 'it has no host';
  if (authority.includes('@'))
    return 'it contains user information; give credentials in a custom header, such as Authorization, or in auth';
  if (authority.endsWith(':')) return 'it has a colon without a port';
  return text.includes('#') ? 'it has a fragment, which is never sent' : null;
}

/**
 * Ports above 1023 of services that act on any bytes they receive: databases, caches, brokers, remote
 * administration, and the "bad ports" of the Fetch standard (§2.9) in that range.
 */
const refusedHighPorts = new Set([
  1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3268, 3269, 3306, 3389, 3659,
  4045, 4190, 4369, 5060, 5061, 5432, 5671, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566, 6665,
  6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9160, 9200, 9300, 9418, 10080, 10250, 10255, 11211, 15672,
  16379, 26379, 27017, 27018, 27019, 61616,
]);

/**
 * The problem with a port, given as `URL.port` ("" is the scheme's own). Below 1024, 80 and 443 are
 * permitted; above, all ports but those of well-known services that are not web applications.
 */
function portProblem(port: string): string | null {
  const number = Number(port);
  if (port === '' || number === 80 || number === 443) return null;
  if (number < 1024) return `port ${port} is not permitted; 443 is, 80, and those above 1023`;
  return refusedHighPorts.has(number)
    ? `port ${port} is not permitted: it belongs to a service that is no web application`
    : null;
}

function hostProblem(host: string, policy: EgressPolicy): string | null {
  if (host === '') return 'it has no host';
  if (host.endsWith('.')) return 'its host ends in a dot';
  if (isIP(host) !== 0) {
    return policy.isAllowed(host) ? null : addressProblem(host);
  }
  if (isLoopbackName(host)) {
    const isOpen = policy.isAllowed('127.0.0.1') || policy.isAllowed('::1');
    return isOpen ? null : `${shown(host)} is the daemon's own machine; ${opened}`;
  }
  if (!metadataNames.has(host) || policy.isAllowed('169.254.169.254')) return null;
  return `${host} is the metadata service of a cloud`;
}

function addressProblem(host: string): string {
  return isMappedIpv4(host)
    ? `${host} is an IPv4 address written as IPv6; write it as IPv4`
    : `${host} is ${describeAddress(host)}; ${opened}`;
}

// A host of the loopback has any length.
function shown(host: string): string {
  return host.length > 64 ? `${host.slice(0, 64)}…` : host;
}

/** Names of Google's metadata service; outside its cloud they do not resolve. */
const metadataNames = new Set(['metadata.google.internal', 'metadata.goog', 'metadata']);

const loopbackNames = new Set(['localhost', 'localhost6', 'ip6-localhost', 'ip6-loopback', 'loopback']);

/** RFC 6761 §6.3, and the spellings found in the hosts files of common systems. */
function isLoopbackName(host: string): boolean {
  const [first = '', ...rest] = host.split('.');
  const domain = rest.join('.');
  return (
    (loopbackNames.has(first) && (domain === '' || /^localdomain6?$/.test(domain))) ||
    host.endsWith('.localhost')
  );
}

function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
