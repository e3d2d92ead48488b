import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** Whether an entry names this host and port; `address` is null for a host that is a name. */
type Rule = (host: string, address: Address | null, port: number) => boolean;

/** The entries of `NO_PROXY`. */
export type NoProxy = readonly Rule[];

// Maximum number of entries that are read.
const rulesMax = 1_000;

/**
 * Reads `NO_PROXY`: entries with commas or spaces between, by the rules of docs/endpoints/proxy.md#no_proxy.
 * An entry that cannot be read is left out, as curl and Go do: what it meant then goes through the proxy.
 */
export function parseNoProxy(text: string): NoProxy {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .slice(0, rulesMax)
    .flatMap((entry) => ruleOf(entry) ?? []);
}

/**
 * Whether requests to this host and port pass by the proxy. The host is as a URL has it, with or without
 * brackets; names are not resolved, so addresses and ranges match hosts that are addresses.
 */
export function isDirect(rules: NoProxy, hostname: string, port: number): boolean {
  if (rules.length === 0) return false;
  const host = bare(hostname.toLowerCase());
  const address = isIP(host) === 0 ? null : ipaddr.process(host);
  return rules.some((matches) => matches(host, address, port));
}

function ruleOf(entry: string): Rule | null {
  if (entry === '*') return () => true;
  const [, range = '', bits] = /^\[?([\d.a-f:]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits !== undefined) return rangeRule(range, Number(bits));
  if (isIP(bare(entry)) !== 0) return addressRule(bare(entry), null);
  const [, host = '', digits] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (isIP(bare(host)) !== 0) return addressRule(bare(host), port);
  const [, prefix, name] = /^(\*?\.)?([\p{L}\p{N}_-][\p{L}\p{N}._-]*)$/u.exec(bare(host)) ?? [];
  if (name === undefined) return null;
  return (one, address, at) =>
    (port ?? at) === at &&
    address === null &&
    (one.endsWith(`.${name}`) || (prefix === undefined && one === name));
}

function rangeRule(text: string, bits: number): Rule | null {
  const family = isIP(text);
  if (family === 0 || bits > (family === 4 ? 32 : 128)) return null;
  const base = ipaddr.parse(text);
  return (_, address) => address?.kind() === base.kind() && address.match(base, bits);
}

function addressRule(text: string, port: number | null): Rule {
  const address = ipaddr.process(text).toNormalizedString();
  return (_, one, at) => (port ?? at) === at && one?.toNormalizedString() === address;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
