import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** One entry of `NO_PROXY`; null for any port. */
type Rule =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'name';
      readonly name: string;
      readonly withItself: boolean;
      readonly port: number | null;
    }
  | { readonly kind: 'address'; readonly address: Address; readonly port: number | null }
  | { readonly kind: 'range'; readonly base: Address; readonly bits: number };

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
  return rules.some((rule) => matches(rule, host, address, port));
}

function matches(rule: Rule, host: string, address: Address | null, port: number): boolean {
  if (rule.kind === 'all') return true;
  if (rule.kind === 'range')
    return address !== null && address.kind() === rule.base.kind() && address.match(rule.base, rule.bits);
  if (rule.port !== null && rule.port !== port) return false;
  if (rule.kind === 'address') return address?.toNormalizedString() === rule.address.toNormalizedString();
  if (address !== null) return false;
  return (rule.withItself && host === rule.name) || host.endsWith(`.${rule.name}`);
}

function ruleOf(entry: string): Rule | null {
  if (entry === '*') return { kind: 'all' };
  const [, whole, bits] = /^\[?([\d.a-f:]+)\]?\/(\d{1,3})$/.exec(entry) ?? [];
  if (bits !== undefined) return rangeOf(whole ?? '', Number(bits));
  if (isIP(bare(entry)) !== 0) return { kind: 'address', address: ipaddr.process(bare(entry)), port: null };
  const [, host = '', digits = null] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === null ? null : Number(digits);
  if (isIP(bare(host)) !== 0) return { kind: 'address', address: ipaddr.process(bare(host)), port };
  const [, prefix, name = ''] = /^(\*?\.)?([\p{L}\p{N}_-][\p{L}\p{N}._-]*)$/u.exec(bare(host)) ?? [];
  return name === '' ? null : { kind: 'name', name, withItself: prefix === undefined, port };
}

function rangeOf(address: string, bits: number): Rule | null {
  const family = isIP(address);
  if (family === 0 || bits > (family === 4 ? 32 : 128)) return null;
  return { kind: 'range', base: ipaddr.parse(address), bits };
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
