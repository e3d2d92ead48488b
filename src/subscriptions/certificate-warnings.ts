import { buildOperationalEvent, type NewEvent } from '../events/event.ts';
import { withoutPageLinks, type AddPageLink } from '../events/page-link.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import { pairsOf } from '../redis/hash-fields.ts';
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
export type CertificateWarnings = ReturnType<typeof createCertificateWarnings>;

// Maximum number of warnings in one look.
const warnedAtOnce = 100;

/** Warnings over one connection; `now` is milliseconds on Redis's clock. */
export function createCertificateWarnings(
  redis: RedisClient,
  keys: Keys,
  subscriptions: Pick<SubscriptionStore, 'get'>,
  now: () => number,
  addPageLink: AddPageLink = withoutPageLinks,
) {
  const script = committing(loadScript(new URL('scripts/warn.lua', import.meta.url)));

  async function warnOf(account: string, name: string, due: string): Promise<CertificateWarning[]> {
    const { certificates, certificateWarnings, head, events, bodies } = keys.account(account);
    const [id = '', word] = name.split(' ');
    const kind = certificateKinds.find((each) => each === word);
    const end = await redis.zscore(certificates, name);
    const record = end === null || kind === undefined ? null : await subscriptions.get(account, id);
    if (end === null || kind === undefined || record === null) {
      // Another program has removed the subscription, or added the member.
      await Promise.all([redis.zrem(certificates, name), redis.zrem(certificateWarnings, name)]);
      return [];
    }
    const at = now();
    const ending = { kind, notAfter: Number(end) };
    const event = buildExpiryEvent(record.subscription, ending, at);
    const written = await script.run(
      redis,
      [certificateWarnings, head, events, bodies],
      [
        name,
        due,
        at < ending.notAfter ? end : '',
        at,
        event.id,
        event.type,
        addPageLink(account, event).body,
      ],
    );
    return written === 1 ? [{ account, subscription: id, ending, event }] : [];
  }

  return {
    /**
     * Appends the events about an account's certificates that end within 30 days, or have ended: one of each
     * for a certificate, however many processes look, and up to a hundred at once. Returns them. A crash in
     * between repeats none and loses none.
     */
    async warn(account: string): Promise<CertificateWarning[]> {
      const { certificateWarnings } = keys.account(account);
      const limit = ['LIMIT', 0, warnedAtOnce] as const;
      const flat = await redis.zrangebyscore(certificateWarnings, '-inf', now(), 'WITHSCORES', ...limit);
      const warnings: CertificateWarning[] = [];
      for (const [name, due] of pairsOf(flat)) warnings.push(...(await warnOf(account, name, due)));
      return warnings;
    },
    /** When the account's first certificate to expire does so (ms), or null if it uses none. */
    async firstEnd(account: string): Promise<number | null> {
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
    endpoint: subscriptionHost(subscription).origin,
    certificate: kind,
    // Unknown if the settings cannot be opened.
    subject: tls?.shown[kind]?.subject ?? null,
    notAfter: new Date(notAfter).toISOString(),
    expired,
  });
}

/** The arguments of `note_ends` for these settings; pure. */
export function endsOf(tls: Pick<Tls, 'shown'> | null | undefined): (string | number)[] {
  return certificateKinds.flatMap((kind) => {
    const { notAfter } = tls?.shown[kind] ?? {};
    return [kind, notAfter === undefined ? '' : Date.parse(notAfter)];
  });
}
