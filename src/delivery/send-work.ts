import type { LogEntry } from '../events/event-log.ts';
import type { Selectable } from '../subscriptions/content-filter/selection.ts';
import type { ReadySubscription } from './account/queue.ts';
import type { Work } from './schedule/track.ts';
import type { SendResult } from './settlement.ts';
import type { Source } from './sources/source.ts';

export interface SendDeps {
  /** The source of an event that was started. */
  readonly sourceOf: (work: Work) => Source;
  /** Whether the subscription asks for the event. */
  readonly wants: (entry: Selectable) => boolean;
  /** The subscription as it is now. */
  readonly inEffect: () => ReadySubscription;
}

/** Makes one attempt with the event that its source makes. */
export function createSend({ sourceOf, wants, inEffect }: SendDeps) {
  async function prepare(work: Work): Promise<SendResult> {
    const made = await sourceOf(work).make(work);
    return made.kind === 'made' ? sendEntry(work, made.entry) : { ...made, work };
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
