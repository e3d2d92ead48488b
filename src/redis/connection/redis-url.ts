import { isIP } from 'node:net';

/** Where one Redis node listens. */
type RedisNode = { readonly host: string; readonly port: number };

/**
 * The parts of a `REDIS_URL`. `nodes` are asked first: the server itself, some nodes of a cluster, or the
 * sentinels.
 */
export type RedisAddress = {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly nodes: readonly [RedisNode, ...RedisNode[]];
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  /** Database number; always 0 in a cluster and behind sentinels. */
  readonly db: number;
  /** The name under which the sentinels know the master; empty for the other kinds. */
  readonly masterName: string;
};

/** `problem` completes "REDIS_URL …" and never repeats anything of the address. */
export type RedisAddressResult =
  { readonly ok: true; readonly address: RedisAddress } | { readonly ok: false; readonly problem: string };

const form = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^@/?#]*)(?:\/([^/?#]*))?$/;
const hostName = /^(?!-)[A-Za-z0-9._-]{1,253}$/;

/**
 * Reads `redis://h:p/db`, `rediss://…` (TLS), `redis+cluster://h1:p1,h2:p2` or
 * `redis+sentinel://h1:p1,h2:p2/NAME`, each with `user:password@` in front if need be, percent-encoded. Ports
 * default to 6379, of sentinels to 26379.
 */
export function parseRedisUrl(text: string): RedisAddressResult {
  const parts = form.exec(text);
  if (parts === null) return wrong(misformed(text));
  const kind = parts[2] === 'cluster' || parts[2] === 'sentinel' ? parts[2] : 'single';
  const [first, ...others] = (parts[4] ?? '')
    .split(',')
    .map((node) => parseNode(node, kind === 'sentinel' ? 26379 : 6379));
  if (first === undefined || first === null || others.includes(null)) {
    return wrong('names a host or port that is none (an IPv6 address stands in brackets)');
  }
  if (kind === 'single' && others.length > 0) {
    return wrong('lists several hosts; a list needs redis+cluster:// or redis+sentinel://');
  }
  const credentials = parseCredentials(parts[3]);
  if (credentials === null) {
    return wrong('needs user:password@ or :password@ before the host, with @ : / and % percent-encoded');
  }
  const place = parsePath(kind, parts[5] ?? '');
  if (typeof place === 'string') return wrong(place);
  const nodes = [first, ...others.filter((node) => node !== null)] as const;
  return { ok: true, address: { kind, nodes, tls: parts[1] === 's', ...credentials, ...place } };
}

/** The address for logs: kind and nodes, without user and password. */
export function describeRedis({ kind, nodes, tls, masterName }: RedisAddress): string {
  const list = nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  const scheme = `redis${tls ? 's' : ''}${kind === 'single' ? '' : `+${kind}`}`;
  return `${scheme}://${list}${masterName === '' ? '' : `/${masterName}`}`;
}

const forms =
  'redis://HOST:PORT, rediss:// for TLS, redis+cluster://HOST:PORT,HOST:PORT, redis+sentinel://HOST:PORT,HOST:PORT/NAME';

// Says nothing of the text but whether it has a scheme: an address may hold a password.
function misformed(text: string): string {
  if (!text.includes('://')) return `lacks redis:// in front; the forms are ${forms}`;
  const isKnown = /^redis(?:s?|s?\+(?:cluster|sentinel)):\/\//.test(text);
  return isKnown
    ? `is written in none of its forms: ${forms}`
    : `has another scheme than redis://; the forms are ${forms}`;
}

function parseNode(text: string, defaultPort: number): RedisNode | null {
  const parts = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text);
  if (parts === null) return null;
  const [, bracketed, plain, portText] = parts;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port < 1 || port > 65_535) return null;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : null;
  return plain !== undefined && hostName.test(plain) ? { host: plain, port } : null;
}

function parseCredentials(
  text: string | undefined,
): { username: string | null; password: string | null } | null {
  if (text === undefined) return { username: null, password: null };
  const colon = text.indexOf(':');
  const username = decode(text.slice(0, Math.max(colon, 0)));
  const password = decode(text.slice(colon + 1));
  if (colon === -1 || username === null || password === null || password === '') return null;
  return { username: username === '' ? null : username, password };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function parsePath(kind: RedisAddress['kind'], path: string): { db: number; masterName: string } | string {
  if (kind === 'sentinel') {
    const masterName = decode(path);
    return masterName ? { db: 0, masterName } : 'needs the name of the master after the sentinels: …/NAME';
  }
  if (path === '') return { db: 0, masterName: '' };
  if (kind === 'cluster') return 'must end after the nodes: a cluster has only database 0';
  return /^\d{1,4}$/.test(path)
    ? { db: Number(path), masterName: '' }
    : 'may end in /NUMBER of a database only';
}

function wrong(problem: string): RedisAddressResult {
  return { ok: false, problem };
}
