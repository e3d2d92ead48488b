import type { LogEntry } from '../../events/event-log.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { CallbackOutcome } from '../../callbacks/outcome.ts';
import { toAttempt, toDeadLetter, toExpiredLetter } from '../store/delivery-records.ts';
import type { Attempt, DeadLetter } from '../store/delivery-records.ts';
import type { DrainWindow, Work } from '../schedule/scheduler.ts';
import type { ReplayFeed } from '../replay/replay-source.ts';
import type { Sent } from '../../callbacks/send-callback.ts';

/** One attempt with everything about it, for logs and metrics. */
export interface AttemptReport {
  readonly subscription: Subscription;
  readonly entry: LogEntry;
  readonly attempt: Attempt;
  readonly sent: Sent;
  readonly deadLetter: boolean;
  /** When the event is tried again, in milliseconds on Redis's clock; null when it is not. */
  readonly nextAttemptAt: number | null;
}

/**
 * An event that was in flight: sent to the subscription as it was then, or found to be trimmed away or
 * unwanted.
 */
export type Landed =
  | {
      readonly kind: 'sent';
      readonly work: Work;
      readonly entry: LogEntry;
      readonly sent: Sent;
      readonly subscription: Subscription;
    }
  | { readonly kind: 'expired' | 'unwanted'; readonly work: Work };

/** What a batch of landed events comes to. */
export interface Account {
  readonly reports: readonly AttemptReport[];
  readonly deadLetters: readonly DeadLetter[];
  /** Ids of dead letters that a replay has delivered. */
  readonly recovered: readonly string[];
  /** The outcomes that say something about the endpoint as it is now. */
  readonly judged: readonly CallbackOutcome[];
}

/** Settles a batch in the window, and in the replay it belongs to, and tells what is to be written of it. */
export function accountFor(
  landed: readonly Landed[],
  window: DrainWindow,
  replays: ReplayFeed,
  now: number,
): Account {
  const accounts = landed.map((each) =>
    each.kind === 'sent' ? accountForSent(each, window, replays, now) : accountForUnsent(each, window, now),
  );
  return {
    reports: accounts.flatMap(({ report }) => report ?? []),
    deadLetters: accounts.flatMap(({ deadLetter }) => deadLetter ?? []),
    recovered: accounts.flatMap(({ recovered }) => recovered ?? []),
    judged: accounts.flatMap(({ judged }) => judged ?? []),
  };
}

interface AccountOfOne {
  readonly report: AttemptReport | null;
  readonly deadLetter: DeadLetter | null;
  readonly recovered: string | null;
  readonly judged: CallbackOutcome | null;
}

function accountForSent(
  { work, entry, sent, subscription }: Landed & { kind: 'sent' },
  window: DrainWindow,
  replays: ReplayFeed,
  now: number,
): AccountOfOne {
  const { givenUp, judged } = window.settle(work, sent.outcome, now);
  const isReplay = work.track === 'replay';
  const attempt = toAttempt(work, entry, sent, now, isReplay ? replays.current() : null);
  const deadLetter = givenUp && !isReplay ? toDeadLetter(work, entry, sent, now) : null;
  const ended = sent.outcome.kind === 'delivered' ? 'delivered' : givenUp ? 'failed' : null;
  return {
    report: {
      subscription,
      entry,
      attempt,
      sent,
      deadLetter: deadLetter !== null,
      nextAttemptAt: window.nextAttemptAt(work),
    },
    deadLetter,
    recovered: isReplay && ended !== null ? replays.count(work.position, ended) : null,
    judged: judged ? sent.outcome : null,
  };
}

function accountForUnsent(
  { work, kind }: Landed & { kind: 'expired' | 'unwanted' },
  window: DrainWindow,
  now: number,
): AccountOfOne {
  window.drop(work, now);
  const { position, filingId, attempt, track } = work;
  const lost = kind === 'expired' && track === 'live';
  return {
    report: null,
    deadLetter: lost ? toExpiredLetter({ position, filingId, attempts: attempt - 1 }, 1, now) : null,
    recovered: null,
    judged: null,
  };
}
