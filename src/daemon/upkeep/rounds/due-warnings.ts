import type { Logger } from 'pino';
import type { SubscriptionWaker } from '../../../delivery/wake.ts';
import { createBoundedMap } from '../../../memory/bounded-map.ts';
import type { Metrics } from '../../../monitoring/metrics.ts';
import { failureOf } from '../../../redis/unreadable-record.ts';
import type { CertificateWarnings } from '../../../subscriptions/certificates/certificate-warnings.ts';

export interface DueWarningsDeps {
  readonly certificates: Pick<CertificateWarnings, 'warn'>;
  readonly waker: Pick<SubscriptionWaker, 'wakeMatching'>;
  readonly metrics: Pick<Metrics, 'events'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Whether Redis's clock may be believed. */
  readonly isClockRight: () => boolean;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

// Milliseconds between two looks of this process at an account.
const lookAgainMs = 600_000;
// Maximum number of accounts whose last look is remembered, about a hundred bytes each.
const rememberedMax = 100_000;

/**
 * Warns of an account's certificates that end: with the first call, and with one every ten minutes. A look is
 * one command while nothing is due. An unreadable record is skipped: the polls of its account report it.
 */
export function createDueWarnings(deps: DueWarningsDeps): (account: string) => Promise<void> {
  const lookedAt = createBoundedMap<string, number>(rememberedMax);

  async function warn(account: string): Promise<void> {
    const warnings = await deps.certificates.warn(account);
    for (const { subscription, ending, event } of warnings) {
      deps.metrics.events.inc({ type: event.type });
      const notAfter = new Date(ending.notAfter).toISOString();
      deps.logger.warn({ account, subscription, certificate: ending.kind, notAfter }, 'certificate.expiring');
    }
    // A wake-up that fails is repeated by the polls of the account.
    if (warnings.length > 0)
      await deps.waker.wakeMatching(
        account,
        warnings.map(({ event }) => event),
      );
  }

  return async (account) => {
    const at = deps.now();
    if (at < (lookedAt.get(account) ?? -Infinity) + lookAgainMs || !deps.isClockRight()) return;
    lookedAt.set(account, at);
    await failureOf(() => warn(account));
  };
}
