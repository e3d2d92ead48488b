import type { NewEvent } from '../../events/event.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { committing, loadScript } from '../../redis/scripts.ts';
import { certificateKinds, type CertificateKind, type Ending } from '../settings/tls.ts';
import type { SubscriptionStore } from '../store/subscription-store.ts';
import { buildExpiryEvent } from './expiry-event.ts';

/** A warning that was appended to the log. */
export interface CertificateWarning {
  readonly account: string;
  readonly subscription: string;
  readonly ending: Ending;
  readonly event: NewEvent;
}

/** The ends of the certificates that subscriptions use. */
export interface CertificateWarnings {
  /**
   * Appends the events about an account's certificates that end within 30 days, or have ended: one of each
   * for a certificate, however many processes look, and up to a hundred at once. Returns them. A crash in
   * between repeats none and loses none.
   */
  warn(account: string): Promise<CertificateWarning[]>;
  /** When the first certificate of an account ends (ms); null where it uses none. */
  firstEnd(account: string): Promise<number | null>;
}

// Maximum number of warnings in one look.
const warnedAtOnce = 100;

/** Warnings over one connection; `now` is milliseconds on Redis's clock. */
export function createCertificateWarnings(
  redis: RedisClient,
  keys: Keys,
  subscriptions: Pick<SubscriptionStore, 'get'>,
  now: () => number,
): CertificateWarnings {
  const script = committing(loadScript(new URL('warn.lua', import.meta.url)));

  async function warnOf(account: string, name: string, due: string): Promise<CertificateWarning[]> {
    const key = keys.account(account);
    const [id = '', kind = ''] = name.split(' ');
    const ends = [key.certificates, key.certificateWarnings, key.subscriptions];
    const write = (...args: (string | number)[]) =>
      script.run(redis, [...ends, key.head, key.events, key.bodies], [id, kind, ...args]);
    const end = await redis.zscore(key.certificates, name);
    const record = end === null || !isKind(kind) ? null : await subscriptions.get(account, id);
    if (end === null || !isKind(kind) || record === null) {
      await write(end ?? '', due, '', 0, '', '', '');
      return [];
    }
    const at = now();
    const ending = { kind, notAfter: Number(end) };
    const event = buildExpiryEvent(record.subscription, ending, at);
    const next = at < ending.notAfter ? end : '';
    const written = await write(end, due, next, at, event.id, event.type, event.body);
    return written === 1 ? [{ account, subscription: id, ending, event }] : [];
  }

  return {
    async warn(account) {
      const { certificateWarnings } = keys.account(account);
      const limit = ['LIMIT', 0, warnedAtOnce] as const;
      const flat = await redis.zrangebyscore(certificateWarnings, '-inf', now(), 'WITHSCORES', ...limit);
      const warnings: CertificateWarning[] = [];
      for (let i = 0; i + 1 < flat.length; i += 2)
        warnings.push(...(await warnOf(account, flat[i] ?? '', flat[i + 1] ?? '')));
      return warnings;
    },
    async firstEnd(account) {
      const [, end] = await redis.zrange(keys.account(account).certificates, '0', '0', 'WITHSCORES');
      return end === undefined ? null : Number(end);
    },
  };
}

function isKind(text: string): text is CertificateKind {
  return (certificateKinds as readonly string[]).includes(text);
}
