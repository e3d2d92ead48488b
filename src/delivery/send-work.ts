import type { EventLog, LogEntry } from '../events/event-log.ts';
import type { Selectable } from '../subscriptions/content-filter/selection.ts';
import type { ReplaySource } from './replay/replay-source.ts';
import type { Work } from './schedule/track.ts';
import type { ReadySubscription } from './account/queue.ts';
import type { SendResult } from './settlement.ts';

export interface SendDeps {
  readonly log: Pick<EventLog, 'readAt'>;
  readonly account: string;
  /** The replay that is worked on. */
  readonly replay: ReplaySource['current'];
  /** Whether the subscription asks for the event. */
  readonly wants: (entry: Selectable) => boolean;
  /** The subscription as it is now. */
  readonly inEffect: () => ReadySubscription;
}

/**
 * Makes one attempt: the event comes from the scheduler, from the log again, or from what a filing is now.
 */
export function createSend({ log, account, replay, wants, inEffect }: SendDeps) {
  async function read({ position }: Work): Promise<LogEntry | null> {
    const { entries } = await log.readAt(account, [position]);
    return entries[0] ?? null;
  }

  async function prepare(work: Work): Promise<SendResult> {
    const made = work.track === 'replay' ? await replay()?.reader.make(work) : null;
    if (made?.kind === 'waits') return { kind: 'waits', work, until: made.until };
    if (made?.kind === 'unwanted') return { kind: 'unwanted', work };
    const entry = made?.entry ?? work.entry ?? (await read(work));
    return entry === null ? { kind: 'expired', work } : sendEntry(work, entry);
  }

  function sendEntry(work: Work, entry: LogEntry): Promise<SendResult> {
    if (!wants(entry)) return Promise.resolve({ kind: 'unwanted', work });
    const { subscription, send } = inEffect();
    const sending = send(entry);
    return sending.then((sent) => ({ kind: 'sent', work, entry, subscription, sent }));
  }

  // Most events are at hand, and nothing is waited for then.
  return (work: Work): Promise<SendResult> =>
    work.entry !== null && work.track === 'live' ? sendEntry(work, work.entry) : prepare(work);
}
