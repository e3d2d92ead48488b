import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { committing, loadScript } from '../redis/scripts.ts';
import { certificateKinds, type Tls } from './options/tls.ts';
import type { SubscriptionStore } from './store/subscription-store.ts';
import { subscriptionHost, type Subscription } from './subscription.ts';

/** A certificate that ends. */
export interface Ending {
  readonly kind: (typeof certificateKinds)[number];
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

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
// Milliseconds before the end of a certificate at which the account is warned.
const warnedBeforeMs = 30 * 86_400_000;

/** Warnings over one connection; `now` is milliseconds on Redis's clock. */
export function createCertificateWarnings(
  redis: RedisClient,
  keys: Keys,
  subscriptions: Pick<SubscriptionStore, 'get'>,
  now: () => number,
): CertificateWarnings {
  const script = committing(loadScript(new URL('scripts/warn.lua', import.meta.url)));

  async function warnOf(account: string, name: string, due: string): Promise<CertificateWarning[]> {
    const key = keys.account(account);
    const [id = '', word] = name.split(' ');
    const kind = certificateKinds.find((each) => each === word);
    const end = await redis.zscore(key.certificates, name);
    const record = end === null || kind === undefined ? null : await subscriptions.get(account, id);
    const write = (...args: (string | number)[]) =>
      script.run(
        redis,
        [key.certificates, key.certificateWarnings, key.subscriptions, key.head, key.events, key.bodies],
        [id, word ?? '', end ?? '', due, ...args],
      );
    if (end === null || kind === undefined || record === null) {
      await write('', 0, '', '', '');
      return [];
    }
    const at = now();
    const ending = { kind, notAfter: Number(end) };
    const event = buildExpiryEvent(record.subscription, ending, at);
    const written = await write(at < ending.notAfter ? end : '', at, event.id, event.type, event.body);
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

/**
 * The event `account.certificate_expiring`; pure. `at` is the time of the warning in milliseconds: from the
 * end of the certificate on, the event says that it has expired. Appended again from an older store, it has
 * the same id.
 */
export function buildExpiryEvent(
  subscription: Pick<Subscription, 'account' | 'id' | 'url' | 'tls'>,
  { kind, notAfter }: Ending,
  at: number,
): NewEvent {
  const { account, id, tls } = subscription;
  const expired = at >= notAfter;
  const occasion = `${id} ${kind} ${notAfter}${expired ? ' expired' : ''}`;
  return buildOperationalEvent(account, 'account.certificate_expiring', occasion, at, {
    subscription: id,
    url: subscriptionHost(subscription).origin,
    certificate: kind,
    // Unknown where the settings cannot be opened.
    subject: tls?.shown[kind]?.subject ?? null,
    notAfter: new Date(notAfter).toISOString(),
    expired,
  });
}

/**
 * The arguments of `note_ends` for a change from `former` to `next`; pure. A certificate that stays is left
 * out, so that no warning is repeated. `former` is undefined where it is not known.
 */
export function changedEnds(
  former: Pick<Tls, 'shown'> | null | undefined,
  next: Pick<Tls, 'shown'> | null | undefined,
): (string | number)[] {
  return certificateKinds.flatMap((kind): (string | number)[] => {
    const certificate = next?.shown[kind] ?? null;
    const before = former === undefined ? undefined : (former?.shown[kind]?.fingerprint ?? null);
    if (before === (certificate?.fingerprint ?? null)) return [];
    if (certificate === null) return [kind, '', ''];
    const notAfter = Date.parse(certificate.notAfter);
    return [kind, notAfter, notAfter - warnedBeforeMs];
  });
}
