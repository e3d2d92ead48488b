import type { Logger } from 'pino';
import type { Waker } from '../../delivery/wake.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { RejectingAccounts } from '../../filings/rejecting-accounts.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import { failureOf } from '../../redis/unreadable-record.ts';
import type { CertificateWarnings } from '../../subscriptions/certificate-warnings.ts';
import { clocksContradict, oldestKept, type RetentionInput } from './retention.ts';

/** A part of the upkeep of one account. */
export interface AccountLook {
  /** Milliseconds between two looks of this process at an account. */
  readonly everyMs: number;
  readonly look: (account: string) => Promise<unknown>;
}

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

// Maximum number of accounts whose last look is remembered, about a hundred bytes each.
const rememberedMax = 100_000;
const minuteMs = 60_000;

/**
 * Each part of the upkeep of an account: the removal of old events, warnings of certificates that end, and
 * what the indexes over all accounts have lost of it.
 */
export function createAccountLooks(deps: AccountLooksDeps) {
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

  return {
    trim: { everyMs: Math.min(minuteMs, retention().retentionMs), look: trim },
    warn: { everyMs: 10 * minuteMs, look: warn },
    publicKeys: { everyMs: 60 * minuteMs, look: publicKeys.mend },
    rejecting: {
      everyMs: 10 * minuteMs,
      look: (account: string) => rejecting.mend(account, retention().now),
    },
  } satisfies Readonly<Record<string, AccountLook>>;
}

/**
 * Takes each look at an account with the first call, and again after its time. `now` is monotonic, in
 * milliseconds. An unreadable record is skipped: the polls of its account report it.
 */
export function createPacedLooks(
  looks: readonly AccountLook[],
  now: () => number,
): (account: string) => Promise<void> {
  const all = looks.map((each) => ({ ...each, lookedAt: createBoundedMap<string, number>(rememberedMax) }));
  return async (account) => {
    const at = now();
    for (const { everyMs, look, lookedAt } of all) {
      if (at < (lookedAt.get(account) ?? -Infinity) + everyMs) continue;
      lookedAt.set(account, at);
      await failureOf(() => look(account));
    }
  };
}
