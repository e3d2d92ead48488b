import { CallbackError, ConfigurationError } from '../errors.ts';
import { type AnyEvent } from '../events/event.ts';
import { readEvent, type EventFormat } from '../events/read-event.ts';
import { readSignatureHeaders, type HeadersLike, type SignatureHeaders } from './headers.ts';
import { createKeySet, type KeySetOptions } from './key-set.ts';
import { emptyOption, importPublicKeys, importSecrets, type KeyTexts } from './keys.ts';
import { hasEd25519, hasHmac, signedContent, type Signed } from './signature.ts';

/**
 * Exactly one of three: whoever verifies with public keys has to pass over `v1`, or a leaked secret would be enough to forge. The value may be that of
 * a variable of the environment: where it is not set, ConfigurationError names it.
 */
export type VerificationKeys =
  | {
      /** Secrets of the subscription (`whsec_…`) for `v1`: one, or during a rotation all that may sign. */
      readonly secrets: KeyTexts | undefined;
      readonly publicKeys?: never;
      readonly keySetUrl?: never;
    }
  | {
      /** Public keys of the subscription (`whpk_…`) for `v1a`. */
      readonly publicKeys: KeyTexts | undefined;
      readonly secrets?: never;
      readonly keySetUrl?: never;
    }
  | {
      /** Address of the public keys for `v1a`: `https://…/.well-known/webhook-keys?subscription=sub_…` of the daemon. */
      readonly keySetUrl: string | URL | undefined;
      readonly secrets?: never;
      readonly publicKeys?: never;
    };

/** What verifies callbacks, and the two settings that tests change. */
export type VerifierOptions = VerificationKeys &
  KeySetOptions & {
    /** Seconds by which `webhook-timestamp` may differ from now. Default 300, as Standard Webhooks has it. */
    readonly toleranceSeconds?: number;
  };

/** A callback whose signature was verified. */
export interface Callback {
  /** The `webhook-id`: the name of the event, the same on every attempt and replay. */
  readonly id: string;
  /** When this attempt was signed. */
  readonly sentAt: Date;
  readonly event: AnyEvent;
  readonly format: EventFormat;
}

/** Verifies callbacks. */
export interface Verifier {
  /** Resolves at once the keys are usable; rejects with ConfigurationError where one is none. */
  readonly ready: Promise<void>;
  /** The event of a callback. `body` is the bytes as received. Throws CallbackError where anything is wrong with it. */
  verify(headers: HeadersLike, body: Uint8Array): Promise<Callback>;
}

/**
 * Verifies `v1` with secrets, or `v1a` with public keys. Throws ConfigurationError unless exactly one kind of key is given. It uses Web Crypto and
 * fetch alone, so it runs wherever these are.
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const matches = matcher(options);
  const now = options.now ?? Date.now;
  const toleranceSeconds = options.toleranceSeconds ?? 300;
  if (!(toleranceSeconds > 0)) throw new ConfigurationError('toleranceSeconds has to be greater than 0.');
  return {
    ready: matches.ready,
    async verify(headers, body) {
      const signature = readSignatureHeaders(headers);
      const { id, timestamp, signatures } = signature;
      checkAge(Number(timestamp), now(), toleranceSeconds);
      if (!(await matches.signed({ content: signedContent(id, timestamp, body), signatures })))
        throw mismatch(signature, matches.kind);
      return { id, sentAt: new Date(Number(timestamp) * 1000), ...readEvent(body) };
    },
  };
}

interface Matcher {
  readonly kind: 'v1' | 'v1a';
  readonly ready: Promise<void>;
  signed(signed: Signed): Promise<boolean>;
}

function matcher(options: VerifierOptions): Matcher {
  const { secrets, publicKeys, keySetUrl } = options;
  const named = (['secrets', 'publicKeys', 'keySetUrl'] as const).filter((name) => name in options);
  const given = named.filter((name) => options[name] != null);
  if (given.length === 0 && named[0] !== undefined) throw emptyOption(named[0]);
  if (given.length !== 1)
    throw new ConfigurationError(
      'Give exactly one of secrets, publicKeys and keySetUrl: with a secret beside public keys, the secret alone would be enough to forge callbacks.',
    );
  if (keySetUrl != null) return keySetMatcher(keySetUrl, options);
  const kind = secrets == null ? 'v1a' : 'v1';
  const imported = secrets == null ? importPublicKeys(publicKeys ?? []) : importSecrets(secrets);
  const ready = imported.then(() => undefined);
  ready.catch(() => undefined); // Who verifies meets it again.
  const has = kind === 'v1' ? hasHmac : hasEd25519;
  return { kind, ready, signed: async (signed) => has(signed, await imported) };
}

function keySetMatcher(keySetUrl: string | URL, options: KeySetOptions): Matcher {
  const keySet = createKeySet(keySetUrl, options);
  return {
    kind: 'v1a',
    ready: Promise.resolve(),
    async signed(signed) {
      if (await hasEd25519(signed, await keySet.current())) return true;
      const renewed = await keySet.renewed();
      return renewed !== null && hasEd25519(signed, renewed);
    },
  };
}

function checkAge(timestamp: number, nowMs: number, toleranceSeconds: number): void {
  const seconds = Math.round(nowMs / 1000 - timestamp);
  if (Math.abs(seconds) <= toleranceSeconds) return;
  const [how, where] = seconds > 0 ? ['old', 'behind'] : ['in the future', 'ahead'];
  throw new CallbackError(
    'timestamp_out_of_tolerance',
    `The callback is ${Math.abs(seconds)} seconds ${how}, ${toleranceSeconds} are allowed: it was recorded and sent again, or the clock of one of the two machines is wrong (${where === 'behind' ? 'this one ahead' : 'this one behind'}); see that both follow NTP.`,
  );
}

function mismatch({ signatures }: SignatureHeaders, kind: 'v1' | 'v1a'): CallbackError {
  const has = (wanted: string) => signatures.some((entry) => entry.startsWith(`${wanted},`));
  const other = kind === 'v1' ? 'v1a' : 'v1';
  if (!has(kind) && has(other))
    return new CallbackError(
      'signature_mismatch',
      `The callback is signed with ${other} alone, and this receiver verifies ${kind}: set signatures of the subscription to ["${kind}"], or give the receiver ${kind === 'v1' ? 'publicKeys or keySetUrl' : 'secrets'}.`,
    );
  return new CallbackError(
    'signature_mismatch',
    `No ${kind} signature matches: the ${kind === 'v1' ? 'secret' : 'public key'} is that of another subscription or a former one, or the body was changed on its way (parsed and written again, recoded). Compare with the subscription, and verify the bytes as received.`,
  );
}
