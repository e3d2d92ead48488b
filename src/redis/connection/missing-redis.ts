/** The reason where Redis accepts connections and nothing else. */
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

// Errors of clients and servers where no connection is made; the first that matches counts.
const meanings: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/\bWRONGPASS\b/, 'It refuses the user or the password of REDIS_URL.'],
  [/\bNOAUTH\b/, 'It wants a password: put it into REDIS_URL.'],
  [/\bNOPERM\b/, 'The user of REDIS_URL may not do what is needed.'],
  [/DB index is out of range/, 'It has no database of the number that REDIS_URL ends in.'],
  [/\bLOADING\b/, 'It is loading its data.'],
  [new RegExp(connectedOnly), 'It takes connections, but does not answer yet: it may be loading its data.'],
  [
    /cluster support disabled/,
    'It is a single server, no cluster: REDIS_URL is to begin with redis:// or rediss://.',
  ],
  [/unknown command 'sentinel'/i, 'It is no sentinel: give the addresses of the sentinels, or redis://.'],
  [/Unknown RESP type/, 'What listens at its address is no Redis: check the port of REDIS_URL.'],
  [/max number of clients/, 'It has no place for more clients.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The name of its host is not found: check REDIS_URL.'],
  [/ECONNREFUSED/, 'Nothing listens at its address: check that it runs and that REDIS_URL is right.'],
  [
    /certificate|SSL|TLS/i,
    'TLS fails: check the certificate, and whether REDIS_URL is to begin with rediss://.',
  ],
];

const check = 'check that it runs and that REDIS_URL is right.';

/**
 * Explains the reason of a missing Redis and what to do, without address and names: anyone may read it.
 */
export function explainMissing(reason: string): string {
  return meaningOf(reason) ?? `It does not answer: ${check}`;
}

/** The same of a Redis that a running daemon has lost; `reason` is null where it is not known. */
export function explainLost(reason: string | null): string {
  const meaning = meaningOf(reason ?? '');
  return meaning === null ? `Redis does not answer: ${check}` : `Redis does not answer. ${meaning}`;
}

function meaningOf(reason: string): string | null {
  return meanings.find(([said]) => said.test(reason))?.[1] ?? null;
}
