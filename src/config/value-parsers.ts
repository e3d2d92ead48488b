import { isIP } from 'node:net';
import { parseRedisUrl } from '../redis/connection/redis-url.ts';
import { parseNoProxy, type NoProxy } from '../proxy/no-proxy.ts';
import type { EncryptionKey } from '../secrets/seal.ts';

/**
 * The value of a variable's text. `problem` completes "NAME …" and never repeats the text, which may be a
 * secret.
 */
type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Parses the text of one variable; the text is never empty and has no space around it. */
export type ValueParser<T> = (text: string) => Parsed<T>;

// The parts that a process can run.
const roles = ['api', 'poll', 'deliver'] as const;

const right = <T>(value: T): Parsed<T> => ({ ok: true, value });
const wrong = (problem: string): Parsed<never> => ({ ok: false, problem });
// An item that is none of a list, whose problem names it.
const none = wrong('');

/** A whole number in decimal digits, bounds included. */
export function integer(min: number, max: number): ValueParser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max
      ? right(value)
      : wrong(`must be a whole number from ${min} to ${max}`);
  };
}

// A list with commas between; `what` says what it has to be.
function listOf<T>(item: ValueParser<T>, what: string): ValueParser<readonly T[]> {
  return (text) => {
    const parsed = splitList(text).map(item);
    const position = parsed.findIndex(({ ok }) => !ok);
    return position === -1
      ? right(parsed.flatMap((each) => (each.ok ? [each.value] : [])))
      : wrong(`must be ${what} with commas between; number ${position + 1} is none`);
  };
}

/** A list of whole numbers with commas between; at least one. */
export function integers(min: number, max: number, countMax: number): ValueParser<readonly number[]> {
  const what = `1 to ${countMax} whole numbers from ${min} to ${max}`;
  const parse = listOf(integer(min, max), what);
  return (text) => {
    const parsed = parse(text);
    return parsed.ok && parsed.value.length > countMax ? wrong(`must be ${what}`) : parsed;
  };
}

/** `true` or `false`, nothing else. */
export const boolean: ValueParser<boolean> = (text) =>
  text === 'true' || text === 'false' ? right(text === 'true') : wrong('must be true or false');

/** One of the given words. */
export function oneOf<const T extends string>(words: readonly T[]): ValueParser<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    return word === undefined ? wrong(`must be one of ${words.join(', ')}`) : right(word);
  };
}

/** Text that matches an anchored regular expression. */
export function matching(pattern: RegExp, problem: string): ValueParser<string> {
  return (text) => (pattern.test(text) ? right(text) : wrong(problem));
}

const roleList = listOf(oneOf(roles), `one or more of ${roles.join(', ')}`);

/** Some of the roles, with commas between. */
export const roleSet: ValueParser<ReadonlySet<(typeof roles)[number]>> = (text) => {
  const parsed = roleList(text);
  return parsed.ok ? right(new Set(parsed.value)) : parsed;
};

/** An address or name to listen on. */
export const listenHost: ValueParser<string> = (text) =>
  isIP(text) > 0 || /^(?![-.])[A-Za-z0-9.-]{1,253}$/.test(text)
    ? right(text)
    : wrong('must be an IP address or a host name, without port and brackets');

/** A Redis address, kept as text; `parseRedisUrl` defines the valid ones. */
export const redisUrl: ValueParser<string> = (text) => {
  const parsed = parseRedisUrl(text);
  return parsed.ok ? right(text) : wrong(parsed.problem);
};

/** The hosts that pass by the proxies; entries that cannot be read are left out. */
export const noProxy: ValueParser<NoProxy> = (text) => right(parseNoProxy(text));

/**
 * An http or https address to which paths can be appended, without credentials, query and fragment; slashes
 * at its end are dropped.
 */
export const baseUrl: ValueParser<string> = (text) => {
  const url = URL.parse(text);
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  return fits && !/[?#]/.test(text)
    ? right(url.href.replace(/(?<!\/)\/+$/, ''))
    : wrong('must be an address that starts with https:// or http://, without user, query and fragment');
};

/** Origins such as `https://a.example.com:8443`, with commas between; no wildcards. */
export const origins = listOf((text) => {
  const url = /^https?:\/\/[^*;,'"\s/?#@]+\/?$/i.test(text) ? URL.parse(text) : null;
  return url === null ? none : right(url.origin);
}, 'origins (https:// or http:// and a host, no path)');

/** Host names such as `a.example.com`, or `*.example.com` for all names below one, with commas between. */
export const hostPatterns = listOf((text) => {
  const name = text.toLowerCase();
  return /^(?:\*\.)?[a-z\d](?:[a-z\d.-]{0,250}[a-z\d])?$/.test(name) ? right(name) : none;
}, 'host names, without scheme and port, *.example.com for all below one,');

/**
 * Headers as OpenTelemetry writes them: `name=value`, with commas between and values percent-encoded. Its
 * exporter reads them, and would cut off a value at a semicolon.
 */
export const headerList = listOf((text) => {
  const [, value = ''] = /^[!#$%&'*+.^_`|~\w-]+=([\x21-\x3a\x3c-\x7e]*)$/.exec(text) ?? [];
  return /^[\x20-\x7e]+$/.test(decoded(value)) ? right(text) : none;
}, 'name=value, the values percent-encoded,');

// Empty when a % does not begin a percent-encoding.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** A number from 0 to 1. */
export const share: ValueParser<number> = (text) => {
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  return value <= 1 ? right(value) : wrong('must be a number from 0 to 1');
};

/**
 * IPv4 and IPv6 ranges in CIDR form, with commas between. Exactly as strict as the parts that use the ranges:
 * a range accepted here never fails the start later.
 */
export const cidrs = listOf((text) => {
  const [, address = '', bits = ''] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const bitsMax = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && Number(bits) <= bitsMax ? right(text) : none;
}, 'ranges in CIDR form');

const keys = listOf<EncryptionKey>((text) => {
  const [, id = 'default', encoded = ''] =
    /^(?:([A-Za-z0-9_-]{1,32}):)?([A-Za-z0-9+/]{43}=)$/.exec(text) ?? [];
  const key = Buffer.from(encoded, 'base64');
  return encoded !== '' && key.toString('base64') === encoded ? right({ id, key }) : none;
}, '32 bytes in base64, or id:base64 (ids of letters, digits, - and _),');

/**
 * AES-256 keys: `base64` or `id:base64`, with commas between, newest first. A key without id is called
 * `default`.
 */
export const encryptionKeys: ValueParser<readonly EncryptionKey[]> = (text) => {
  const parsed = keys(text);
  const isUnique = !parsed.ok || new Set(parsed.value.map(({ id }) => id)).size === parsed.value.length;
  return isUnique ? parsed : wrong('uses the same id twice (a key without an id has the id default)');
};

function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}
