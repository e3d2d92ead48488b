import type { Observation } from '../../filings/detection/decide-commit.ts';
import { observeFilings, type ObservationContext, type Observed } from '../../filings/observe-filings.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { notBefore } from '../beliefs/not-before.ts';
import type { ListGuard } from '../doubt/list-guard.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';
import { countObserved, type Tally } from './tally.ts';

/**
 * Compares the filings that one poll reads with the snapshot, and commits the differences with their events.
 */
export interface Observer {
  /**
   * Commits the filings that one request has shown. `rules` decide which of them are new, which are held back
   * and since when they may have changed. Without rules all filings never seen before are new once there is a
   * baseline, the guard decides whether they are held back, and the marks say what was seen. Nothing is
   * committed once another account answers.
   */
  observe(
    observations: readonly Observation[],
    span: ReadSpan,
    rules?: ObservationRules,
  ): Promise<Pick<Observed, 'added' | 'held'>>;
}

export type ObservationRules = Partial<Pick<ObservationContext, 'announces' | 'holdsBack' | 'notBefore'>>;

export interface ObserverParts {
  readonly guard: Pick<ListGuard, 'isClosed' | 'holdsOfOne'>;
  readonly missed: MissedRecord;
  readonly tally: Tally;
}

/** The observer of one poll. */
export function createObserver(
  deps: Pick<ReadDeps, 'snapshot' | 'clock' | 'filingBytesMax' | 'bodies' | 'handOn'>,
  { account: { account }, marks, stays, startedAt }: PollInput,
  { guard, missed, tally }: ObserverParts,
): Observer {
  const context: ObservationContext = {
    account,
    generation: marks.generation,
    filingBytesMax: deps.filingBytesMax,
    stayLimit: stays.limitOf,
    announces: () => marks.baselined,
    holdsBack: guard.holdsOfOne,
    notBefore: (id, previous, document) => notBefore(marks, missed.get(id), previous, document),
  };
  return {
    async observe(observations, span, rules) {
      if (guard.isClosed()) return { added: 0, held: [] };
      const observed = await observeFilings(deps, { ...context, ...rules }, observations, span);
      countObserved(tally, observed, startedAt);
      if (observed.events.length > 0) await deps.handOn(account, observed.events);
      await missed.forget(observations.filter(({ filing }) => filing !== null).map(({ id }) => id));
      return observed;
    },
  };
}
