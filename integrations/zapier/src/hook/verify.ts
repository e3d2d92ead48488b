import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { rememberedFor } from './repeats.ts';

/** A callback as Zapier hands it on: the headers renamed, the body as text. */
export interface RawRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: string;
}

/** The parts of a callback whose signature fits. */
export interface Verified {
  /** The event's id, the same on every attempt and every replay. */
  readonly id: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

// Seconds that a clock may be behind the daemon's.
const aheadMax = 5 * 60;
// Seconds between signing and now: Zapier accepts a callback at once and may run it hours later. From the earliest to the latest moment at
// which a signature is taken, a Zap remembers its event.
const ageMax = rememberedFor - aheadMax;

/**
 * Verifies a callback (Standard Webhooks, `v1`) with the secret of the subscription; `now` in milliseconds. Returns a sentence where it is
 * refused. The library's own check of the time is left out: it allows five minutes, and Zapier's queue may take longer.
 */
export function verify(
  raw: RawRequest | undefined,
  secret: string | undefined,
  now: number,
): Verified | string {
  if (secret === undefined) return 'Zapier keeps no secret for this Zap.';
  const { content } = raw ?? {};
  if (content === undefined) return 'Zapier handed on no body.';
  const headers = readHeaders(raw?.headers ?? {});
  const [id, signedAt, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headers.get(name),
  );
  if (id === undefined || signedAt === undefined || signatures === undefined) return 'It has no signature.';
  if (!/^\d{1,12}$/.test(signedAt)) return 'Its timestamp is malformed.';
  const expected = Buffer.from(new Webhook(secret).sign(id, new Date(Number(signedAt) * 1000), content));
  const fits = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!fits) return 'Its signature does not fit the secret of this Zap.';
  const age = now / 1000 - Number(signedAt);
  if (age > ageMax || age < -aheadMax) return 'It was signed at another time.';
  return { id, body: JSON.parse(content) as Verified['body'] };
}

/** Zapier writes `webhook-id` as `Http-Webhook-Id`; names are compared without that prefix and in lower case. */
function readHeaders(given: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(given).map(([name, value]) => [name.toLowerCase().replace(/^http-/, ''), value]),
  );
}
