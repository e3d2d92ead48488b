import { isIP } from 'node:net';

/** The host and port of one Redis server or sentinel. */
type RedisNode = { readonly host: string; readonly port: number };

/** A user and its password; null for none. */
type Credentials = { readonly username: string | null; readonly password: string | null };

/** Files in PEM for TLS, null for none: `cert` and `key` of the client, `cacert` of trusted authorities. */
export type TlsFiles = {
  readonly cert: string | null;
  readonly key: string | null;
  readonly cacert: string | null;
};

/**
 * The parts of a `REDIS_URL`. `nodes` are asked first: the server itself, some nodes of a cluster, or the
 * sentinels; none for a socket.
 */
export type RedisAddress = Credentials & {
  readonly kind: 'single' | 'socket' | 'cluster' | 'sentinel';
  readonly nodes: readonly RedisNode[];
  /** The path of the Unix socket; empty for the other kinds. */
  readonly path: string;
  /** Null without TLS. */
  readonly tls: TlsFiles | null;
  /** Those of the sentinels themselves. */
  readonly sentinel: Credentials;
  /** Database number; always 0 in a cluster and behind sentinels. */
  readonly db: number;
  /** The name under which the sentinels know the master; empty for the other kinds. */
  readonly masterName: string;
};

/** `problem` completes "REDIS_URL …" and never repeats anything of the address. */
export type RedisAddressResult =
  { readonly ok: true; readonly address: RedisAddress } | { readonly ok: false; readonly problem: string };

type Kind = RedisAddress['kind'];

const form =
  /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const socketForm = /^(?:redis\+)?unix:\/\/(?:([^@/]*)@)?(\/[^?#]+)(?:\?([^#]*))?$/;
const hostName = /^(?!-)[A-Za-z0-9._-]{1,253}$/;

/**
 * Reads `redis://h:p/db`, `rediss://…` (TLS), `redis+cluster://h1:p1,h2:p2`,
 * `redis+sentinel://h1:p1,h2:p2/NAME` or `redis+unix:///path?db=1` (also `unix://`), each with
 * `user:password@` in front if need be, percent-encoded. Ports default to 6379, of sentinels to 26379. Behind
 * `?` TLS has `cert`, `key` and `cacert`, and sentinels have `sentinel-username` and `sentinel-password`.
 */
export function parseRedisUrl(text: string): RedisAddressResult {
  try {
    return { ok: true, address: read(text) };
  } catch (error) {
    if (error instanceof AddressProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** The address for logs: kind and nodes, without user, password and files. */
export function describeRedis({ kind, nodes, path, tls, masterName }: RedisAddress): string {
  if (kind === 'socket') return `redis+unix://${path}`;
  const list = nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  const scheme = `redis${tls === null ? '' : 's'}${kind === 'single' ? '' : `+${kind}`}`;
  return `${scheme}://${list}${masterName === '' ? '' : `/${masterName}`}`;
}

/** Ends the reading of an address; the message is the `problem`. */
class AddressProblem extends Error {}

function read(text: string): RedisAddress {
  const socket = socketForm.exec(text);
  if (socket !== null) return readSocket(socket[1], socket[2] ?? '', socket[3]);
  const parts = form.exec(text);
  if (parts === null) throw new AddressProblem(misformed(text));
  const [, tls, suffix, credentials, hosts = '', path = '', query] = parts;
  const kind = suffix === 'cluster' || suffix === 'sentinel' ? suffix : 'single';
  const options = readOptions(query, optionsOf(kind, tls === 's'));
  return {
    kind,
    nodes: readNodes(kind, hosts),
    path: '',
    tls: tls === 's' ? readFiles(options) : null,
    ...readCredentials(credentials),
    sentinel: readSentinelCredentials(options),
    ...readPath(kind, path),
  };
}

function readSocket(credentials: string | undefined, path: string, query: string | undefined): RedisAddress {
  return {
    kind: 'socket',
    nodes: [],
    path: decode(path),
    tls: null,
    ...readCredentials(credentials),
    sentinel: { username: null, password: null },
    db: readDatabase(readOptions(query, ['db']).get('db') ?? ''),
    masterName: '',
  };
}

const forms =
  'redis://HOST:PORT, rediss:// for TLS, redis+cluster://HOST:PORT,HOST:PORT, redis+sentinel://HOST:PORT,HOST:PORT/NAME, redis+unix:///PATH';

// Says nothing of the text but whether it has a scheme: an address may hold a password.
function misformed(text: string): string {
  if (!text.includes('://')) return `lacks redis:// in front; the forms are ${forms}`;
  const isKnown = /^(?:redis(?:s?|s?\+(?:cluster|sentinel)|\+unix)|unix):\/\//.test(text);
  return isKnown
    ? `is written in none of its forms: ${forms}`
    : `has another scheme than redis://; the forms are ${forms}`;
}

function readNodes(kind: Kind, text: string): RedisNode[] {
  const nodes = text.split(',').map((node) => readNode(node, kind === 'sentinel' ? 26379 : 6379));
  if (kind === 'single' && nodes.length > 1)
    throw new AddressProblem('lists several hosts; a list needs redis+cluster:// or redis+sentinel://');
  return nodes;
}

function readNode(text: string, defaultPort: number): RedisNode {
  const [, bracketed, plain = '', portText] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  const isHost = bracketed === undefined ? hostName.test(plain) : isIP(bracketed) === 6;
  if (isHost && port >= 1 && port <= 65_535) return { host: bracketed ?? plain, port };
  throw new AddressProblem('names a host or port that is none (an IPv6 address stands in brackets)');
}

function readCredentials(text: string | undefined): Credentials {
  if (text === undefined) return { username: null, password: null };
  const colon = text.indexOf(':');
  const password = decode(text.slice(colon + 1));
  if (colon !== -1 && password !== '') return { username: decode(text.slice(0, colon)) || null, password };
  throw new AddressProblem('needs user:password@ or :password@ before the host, percent-encoded');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressProblem(
      'has a % that is not percent-encoded: write @ : / ? & and % as %40 %3A %2F %3F %26 %25',
    );
  }
}

function readPath(kind: Kind, path: string): { db: number; masterName: string } {
  if (kind === 'sentinel') {
    const masterName = decode(path);
    if (masterName !== '') return { db: 0, masterName };
    throw new AddressProblem('needs the name of the master after the sentinels: …/NAME');
  }
  if (kind === 'cluster' && path !== '')
    throw new AddressProblem('must end after the nodes: a cluster has only database 0');
  return { db: readDatabase(path), masterName: '' };
}

function readDatabase(text: string): number {
  if (/^\d{0,4}$/.test(text)) return Number(text);
  throw new AddressProblem('may name a database by its number only: /NUMBER, behind a socket ?db=NUMBER');
}

function optionsOf(kind: Kind, tls: boolean): string[] {
  return [
    ...(tls ? ['cert', 'key', 'cacert'] : []),
    ...(kind === 'sentinel' ? ['sentinel-username', 'sentinel-password'] : []),
  ];
}

function readOptions(query: string | undefined, allowed: readonly string[]): Map<string, string> {
  const pairs = (query ?? '').split('&').filter((pair) => pair !== '');
  const options = new Map(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, decode(value.join('='))];
    }),
  );
  const isRight = [...options].every(([name, value]) => allowed.includes(name) && value !== '');
  if (isRight && options.size === pairs.length) return options;
  const names = allowed.map((name) => `${name}=…`).join('&');
  throw new AddressProblem(
    allowed.length === 0
      ? 'may have nothing behind ?: cert, key and cacert need rediss://, sentinel-password needs redis+sentinel://'
      : `may have only ${names} behind ?, each once and with a value`,
  );
}

function readFiles(options: ReadonlyMap<string, string>): TlsFiles {
  if (options.has('cert') !== options.has('key'))
    throw new AddressProblem('names only one of cert and key: a client certificate needs both');
  const [cert = null, key = null, cacert = null] = ['cert', 'key', 'cacert'].map((name) => options.get(name));
  return { cert, key, cacert };
}

function readSentinelCredentials(options: ReadonlyMap<string, string>): Credentials {
  const username = options.get('sentinel-username') ?? null;
  const password = options.get('sentinel-password') ?? null;
  if (username === null || password !== null) return { username, password };
  throw new AddressProblem('has a sentinel-username without a sentinel-password');
}
