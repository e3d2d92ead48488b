/** The reason if Redis accepts connections but does not answer. */
export const connectedOnly = 'connected, but there is no answer yet';

/** Redis could not be reached in time. `reason` is the clients' last error; it holds no password. */
export class MissingRedisError extends Error {
  override readonly name = 'MissingRedisError';
  readonly reason: string;

  constructor(address: string, reason: string) {
    super(`no answer from ${address}: ${reason}`);
    this.reason = reason;
  }
}

// Errors of clients and servers when connecting fails; the first match counts.
const meanings: readonly (readonly [said: RegExp, meaning: string])[] = [
  [
    /No such master with that name/,
    'Its sentinels know no master of the name that REDIS_URL ends in: SENTINEL MASTERS lists their names.',
  ],
  [
    /sentinel \S+ because NOAUTH\b/,
    'Its sentinels want a password of their own: put ?sentinel-password=… at the end of REDIS_URL.',
  ],
  [
    /sentinel \S+ because WRONGPASS\b/,
    'Its sentinels refuse sentinel-username or sentinel-password of REDIS_URL.',
  ],
  [
    /sentinel \S+ because NOPERM\b/,
    'The user of its sentinels may not ask for the master: it needs +sentinel|get-master-addr-by-name and +sentinel|sentinels.',
  ],
  [/\bWRONGPASS\b/, 'It refuses the user or the password of REDIS_URL.'],
  [/\bNOAUTH\b/, 'It wants a password: put it into REDIS_URL.'],
  [/\bNOPERM\b/, 'The user of REDIS_URL may not do what is needed.'],
  [/DB index is out of range/, 'It has no database of the number that REDIS_URL names.'],
  [
    /\bMOVED \d|SELECT is not allowed in cluster mode/,
    'It is a node of a cluster: REDIS_URL is to begin with redis+cluster://, or rediss+cluster:// with TLS.',
  ],
  [/\bLOADING\b/, 'It is loading its data.'],
  [new RegExp(connectedOnly), 'It takes connections, but does not answer yet: it may be loading its data.'],
  [
    /cluster support disabled/,
    'It is a single server, no cluster: REDIS_URL is to begin with redis:// or rediss://.',
  ],
  [/unknown command 'sentinel'/i, 'It is no sentinel: give the addresses of the sentinels, or redis://.'],
  [
    /unknown command 'info'/i,
    'It has no INFO, by which the daemon knows whether it keeps its data: use a Redis that has it.',
  ],
  [/Unknown RESP type/, 'What listens at its address is no Redis: check the port of REDIS_URL.'],
  [/max number of clients/, 'It has no place for more clients.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The name of its host is not found: check REDIS_URL.'],
  [/ECONNREFUSED/, 'Nothing listens at its address: check that it runs and that REDIS_URL is right.'],
  [/connect ENOENT/, 'No socket has its path: check that it runs with this unixsocket, and REDIS_URL.'],
  [/connect EACCES/, 'The user of this process may not open its socket: see its unixsocketperm.'],
  [
    /ECONNRESET/,
    'It cuts the connection: check the port of REDIS_URL, whether it is to begin with rediss://, and whether it wants a certificate of its client (?cert=FILE&key=FILE).',
  ],
  [
    /alert (?:certificate required|handshake failure)/,
    'It wants a certificate of its client: name the files in REDIS_URL, behind rediss://…, as ?cert=FILE&key=FILE.',
  ],
  [
    /alert (?:unknown ca|bad certificate|certificate (?:unknown|expired|revoked))/,
    'It refuses the certificate that cert in REDIS_URL names.',
  ],
  [
    /certificate|SSL|TLS/i,
    'TLS fails: check the certificate (cacert in REDIS_URL names its authority), and whether REDIS_URL is to begin with rediss://.',
  ],
];

const check = 'check that it runs and that REDIS_URL is right.';

/**
 * Explains the reason of a missing Redis and what to do, without address and names: anyone may read it.
 */
export function explainMissing(reason: string): string {
  return meaningOf(reason) ?? `It does not answer: ${check}`;
}

/** Explains the same for a Redis that a running daemon has lost; `reason` is null if unknown. */
export function explainLost(reason: string | null): string {
  const meaning = meaningOf(reason ?? '');
  return meaning === null ? `Redis does not answer: ${check}` : `Redis does not answer. ${meaning}`;
}

function meaningOf(reason: string): string | null {
  return meanings.find(([said]) => said.test(reason))?.[1] ?? null;
}
