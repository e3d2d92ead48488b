import type { Logger } from 'pino';
import type { Waker } from '../../delivery/wake.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { RejectingAccounts } from '../../filings/rejecting-accounts.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import { createPaced } from '../../polling/schedule/paced.ts';
import { unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { CertificateWarnings } from '../../subscriptions/certificate-warnings.ts';
import { clocksContradict, oldestKept, type RetentionInput } from './retention.ts';

export interface AccountLooksDeps {
  readonly log: Pick<EventLog, 'trim'>;
  /** Maximum bytes of a log. */
  readonly logBytesMax: number;
  readonly certificates: Pick<CertificateWarnings, 'warn'>;
  readonly waker: Pick<Waker, 'wake'>;
  readonly publicKeys: { readonly mend: (account: string) => Promise<unknown> };
  readonly rejecting: Pick<RejectingAccounts, 'mend'>;
  /** The facts that decide about retention, now. */
  readonly retention: () => RetentionInput;
  readonly metrics: Pick<Metrics, 'events'>;
  readonly logger: Pick<Logger, 'warn'>;
}

const minuteMs = 60_000;

/**
 * The upkeep of an account: the removal of old events, warnings of certificates that end, and what the
 * indexes over all accounts have lost of it. Each part is done with the first call for an account and again
 * after its time. An unreadable record is passed over: the polls of its account report it.
 */
export function createAccountLooks(deps: AccountLooksDeps): (account: string) => Promise<void> {
  const { log, logBytesMax, certificates, waker, publicKeys, rejecting, retention, metrics, logger } = deps;

  // Removes events that were kept long enough, and the oldest of a log that has too many bytes.
  async function trim(account: string): Promise<void> {
    const { dropped } = await log.trim(account, oldestKept(retention()) ?? 0, logBytesMax);
    if (dropped > 0) logger.warn({ account, events: dropped, maxBytes: logBytesMax }, 'log.full');
  }

  async function warn(account: string): Promise<void> {
    if (clocksContradict(retention())) return;
    const warnings = await certificates.warn(account);
    for (const { subscription, ending, event } of warnings) {
      metrics.events.inc({ type: event.type });
      const notAfter = new Date(ending.notAfter).toISOString();
      logger.warn({ account, subscription, certificate: ending.kind, notAfter }, 'certificate.expiring');
    }
    // A wake-up that fails is repeated by the polls of the account.
    if (warnings.length > 0) await waker.wake(account);
  }

  const paced = (everyMs: number, look: (account: string) => Promise<unknown>) =>
    createPaced(everyMs, (account) => unlessUnreadable(() => look(account)));
  const looks = [
    paced(Math.min(minuteMs, retention().retentionMs), trim),
    paced(10 * minuteMs, warn),
    paced(60 * minuteMs, publicKeys.mend),
    paced(10 * minuteMs, (account) => rejecting.mend(account, retention().now)),
  ];
  return async (account) => {
    for (const look of looks) await look(account);
  };
}
