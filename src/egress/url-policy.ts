import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { EgressPolicy } from './address-policy.ts';
import { BlockedAddressError, lookupVetted } from './vetted-lookup.ts';
import type { HostLookup } from '../names/host-lookup.ts';

/** Maximum characters of a URL. */
export const callbackUrlLengthMax = 2048;

/**
 * The sentence for every URL without a permitted destination, be it for its address, name, port or spelling.
 * It says what to write and reveals nothing about the host behind an address.
 */
export const refusedDestination =
  'The URL must be absolute and lead to a public host on a permitted port, without user information, fragment, whitespace, backslash or trailing dot.';

const tooLong = `The URL must not be longer than ${callbackUrlLengthMax} characters.`;

/** A callback URL in its final form, or a sentence for the subscriber. */
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
  if (hasForbiddenCharacter(text)) return refuse(refusedDestination);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'https' && !(scheme === 'http' && rules.allowHttp)) {
    return refuse(`The URL must start with ${rules.allowHttp ? 'https:// or http://' : 'https://'}.`);
  }
  const url = parseAbsolute(text);
  if (url === null || !leadsToPermittedPlace(url, text, rules.policy)) return refuse(refusedDestination);
  // Percent-encoding makes the text longer, and each callback is judged by the normalised form.
  return url.href.length > callbackUrlLengthMax ? refuse(tooLong) : { ok: true, url };
}

/**
 * Resolves the host of a URL that passed checkCallbackUrl, for an early refusal at registration. A host that
 * does not resolve within `timeoutMs` passes: every address is vetted again when it is dialled.
 */
export async function resolveCallbackHost(
  url: URL,
  deps: { readonly policy: EgressPolicy; readonly lookup: HostLookup; readonly timeoutMs: number },
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
 * The URL parser silently drops tabs and newlines, trims control characters and turns backslashes into
 * slashes.
 */
function hasForbiddenCharacter(text: string): boolean {
  return /[\s\\\p{Cc}]/u.test(text);
}

/**
 * Null unless the text has a scheme, two slashes and a host: the parser would also take `https:host` and
 * `https:///host`.
 */
function parseAbsolute(text: string): URL | null {
  return /^https?:\/\/[^/?#]/i.test(text) ? URL.parse(text) : null;
}

function leadsToPermittedPlace(url: URL, text: string, policy: EgressPolicy): boolean {
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  return (
    !authority.includes('@') &&
    !authority.endsWith(':') &&
    !text.includes('#') &&
    isCallbackPort(url.port) &&
    isPermittedHost(unbracketed(url.hostname), policy)
  );
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
 * Whether callbacks may go to a port, given as `URL.port` ("" is the scheme's own). Below 1024 these are 80
 * and 443; above, all ports but those of well-known services that are not web applications.
 */
function isCallbackPort(port: string): boolean {
  if (port === '') return true;
  const number = Number(port);
  if (number < 1024) return number === 80 || number === 443;
  return !refusedHighPorts.has(number);
}

function isPermittedHost(host: string, policy: EgressPolicy): boolean {
  if (host === '' || host.endsWith('.')) return false;
  if (isIP(host) !== 0) return policy.isAllowed(host);
  if (isLoopbackName(host)) return policy.isAllowed('127.0.0.1') || policy.isAllowed('::1');
  return !metadataNames.has(host) || policy.isAllowed('169.254.169.254');
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
