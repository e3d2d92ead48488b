import { CallbackError, ConfigurationError } from '../errors.ts';
import { decodeBase64 } from './base64.ts';
import { importEd25519 } from './keys.ts';

/** How the public keys of the daemon are fetched. */
export interface KeySetOptions {
  /** Default the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Whether `http:` may be used with another host than this machine. Default false: whoever changes the answer could forge callbacks. */
  readonly allowHttp?: boolean;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

/** The public keys behind an address. */
export interface KeySet {
  /** The keys, fetched where they are older than five minutes. Throws CallbackError where there have never been any. */
  current(): Promise<readonly CryptoKey[]>;
  /** The keys after a signature that none of `current` verifies; null where they were fetched within half a minute. */
  renewed(): Promise<readonly CryptoKey[] | null>;
}

// Milliseconds that keys are used without asking again: what the daemon allows in Cache-Control.
const freshMs = 5 * 60_000;
// Milliseconds between two requests, however many callbacks do not verify.
const betweenMs = 30_000;
// The same while there are no keys yet, when every callback is refused.
const betweenFirstMs = 1_000;
// Milliseconds that keys are used while the daemon does not answer.
const keptMs = 24 * 3_600_000;
// Milliseconds that a request may take; a callback waits for it.
const timeoutMs = 5_000;
// Maximum of bytes and keys that are read: a thousand subscriptions have their keys in the longest list.
const bytesMax = 2 * 1024 * 1024;
const keysMax = 5_000;

interface Fetched {
  readonly keys: readonly CryptoKey[];
  readonly at: number;
}

/**
 * The keys of a JWKS (RFC 7517, RFC 8037), such as `/.well-known/webhook-keys?subscription=sub_…` of the daemon. One request at a time; the keys
 * that are there are kept for a day while it fails.
 */
export function createKeySet(address: string | URL, options: KeySetOptions = {}): KeySet {
  const url = toUrl(address, options.allowHttp ?? false);
  const now = options.now ?? Date.now;
  let fetched: Fetched | null = null;
  let askedAt = -Infinity;
  let failure: unknown = null;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    askedAt = now();
    try {
      fetched = { keys: await fetchKeys(url, options.fetch ?? fetch), at: now() };
      failure = null;
    } catch (error) {
      failure = error;
    }
  }

  // Fetches at most every half minute; a callback that arrives meanwhile waits for the same request.
  async function fetchOnce(): Promise<void> {
    if (asking === null && now() - askedAt < (fetched === null ? betweenFirstMs : betweenMs)) return;
    asking ??= ask().finally(() => (asking = null));
    await asking;
  }

  return {
    async current() {
      if (fetched === null || now() - fetched.at > freshMs) await fetchOnce();
      if (fetched !== null && now() - fetched.at <= keptMs) return fetched.keys;
      throw new CallbackError(
        'keys_unavailable',
        `The public keys could not be fetched (${reason(failure)}): see that this machine reaches keySetUrl and that the subscription has v1a among its signatures.`,
        { cause: failure },
      );
    },
    async renewed() {
      const before = fetched;
      await fetchOnce();
      return fetched === before ? null : (fetched?.keys ?? null);
    },
  };
}

async function fetchKeys(url: URL, send: typeof fetch): Promise<CryptoKey[]> {
  const response = await send(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) throw new Error(`it answered ${response.status}`);
  const set = JSON.parse(new TextDecoder().decode(await readLimited(response))) as { keys?: unknown } | null;
  if (!Array.isArray(set?.keys)) throw new Error('it is no JWKS');
  const bytes = set.keys
    .slice(0, keysMax)
    .map(toBytes)
    .filter((key) => key !== null);
  if (bytes.length === 0) throw new Error('it has no key of Ed25519');
  return Promise.all(bytes.map(importEd25519));
}

async function readLimited(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function toBytes(key: unknown): Uint8Array<ArrayBuffer> | null {
  const { kty, crv, x } = (key ?? {}) as Readonly<Record<string, unknown>>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return null;
  const bytes = decodeBase64(x);
  return bytes?.length === 32 ? bytes : null;
}

function toUrl(address: string | URL, allowHttp: boolean): URL {
  if (!URL.canParse(String(address)))
    throw new ConfigurationError(`keySetUrl is no address: ${String(address)}`);
  const url = new URL(String(address));
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && (isLocal || allowHttp))) return url;
  throw new ConfigurationError(
    'keySetUrl is not https: whoever changes its answer could forge callbacks. Set allowHttp where the network is trusted.',
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'no answer';
}
