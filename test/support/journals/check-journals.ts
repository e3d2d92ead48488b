import {
  baselineOf,
  checkBytes,
  checkOrigin,
  checkSignature,
  countRepeats,
  firstSights,
  isAcknowledged,
  toEvent,
} from './check-callbacks.ts';
import { checkChain, stateKey, type TapedEvent } from './check-chain.ts';
import type { Journals, Subscriber } from './journals.ts';

/** What a run was allowed to cost. */
export interface Allowance {
  /** Deliveries to one subscriber of events that it had acknowledged before. */
  readonly repeatsMax: number;
  /**
   * True where Redis itself was set back: a change that is detected again has its former id, and the times of
   * its observation are new. Otherwise an id stands for the same bytes for ever.
   */
  readonly setBack: boolean;
  /**
   * Sequences that one subscriber may not see, none by default: in a Redis Cluster a process that is killed
   * between the announcement of a commit and its write leaves one out.
   */
  readonly skippedMax?: number;
}

/** What the comparison of a run's journals came to. */
export interface Findings {
  /**
   * Broken promises, each with the rule it breaks in front; empty when nothing was lost, invented or out of
   * order.
   */
  readonly violations: readonly string[];
  /** Different events that were acknowledged, per subscriber, added up. */
  readonly events: number;
  readonly callbacks: number;
  /** Deliveries of events that their subscriber had acknowledged before. */
  readonly repeats: number;
}

/** Compares what the partner service showed with what the receivers got, after the run; pure. */
export function checkJournals(journals: Journals, allowance: Allowance): Findings {
  const violations = checkBytes(journals.callbacks, allowance.setBack);
  const servedSince = firstSights(journals);
  let events = 0;
  let repeats = 0;
  for (const subscriber of journals.subscribers) {
    const own = journals.callbacks.filter(({ subscription }) => subscription === subscriber.id);
    violations.push(...own.flatMap((callback) => checkSignature(subscriber, callback)));
    const taped = own.map(toEvent).toSorted((a, b) => a.arrivedAt - b.arrivedAt);
    violations.push(...taped.flatMap((event) => checkOrigin(servedSince, subscriber, event)));
    const ofChains = [...Map.groupBy(taped, (event) => event.filingId)].flatMap(([filingId, chain]) => {
      const baseline = baselineOf(journals, subscriber.account, filingId)?.status ?? null;
      return checkChain(`${filingId} at ${subscriber.id}`, baseline, chain);
    });
    const gaps = ofChains.filter((violation) => violation.startsWith('gap:'));
    const areAllowed = gaps.length <= (allowance.skippedMax ?? 0);
    violations.push(...(areAllowed ? ofChains.filter((violation) => !gaps.includes(violation)) : ofChains));
    violations.push(...checkCompleteness(journals, subscriber, taped));
    const acknowledged = new Set(taped.filter(isAcknowledged).map(({ id }) => id));
    const repeated = countRepeats(taped);
    if (repeated > allowance.repeatsMax)
      violations.push(
        `repeats: ${subscriber.id} got ${repeated} after an acknowledgement, allowed are ${allowance.repeatsMax}`,
      );
    events += acknowledged.size;
    repeats += repeated;
  }
  return { violations, events, callbacks: journals.callbacks.length, repeats };
}

// Absence takes two polls to be believed, and the first of them may have begun to read before.
const pollsToSee = 2;
const pollsToMiss = 3;

// What must have been seen, in its order, has to be among what was acknowledged, and the last state at its
// end.
function checkCompleteness(
  { dwells, polls }: Journals,
  { id, account }: Subscriber,
  taped: readonly TapedEvent[],
): string[] {
  const ownPolls = polls.filter((poll) => poll.account === account);
  const own = dwells.filter((dwell) => dwell.account === account);
  const violations: string[] = [];
  for (const [filingId, lives] of Map.groupBy(own, (dwell) => dwell.filingId)) {
    const events = taped.filter((event) => event.filingId === filingId && isAcknowledged(event));
    const bySequence = new Map(events.map((event) => [event.sequence, event]));
    const told = [...bySequence.values()]
      .toSorted((a, b) => a.sequence - b.sequence)
      .map((event) => stateKey(event.type === 'filing.removed' ? null : event));
    const [baseline] = lives;
    // What nobody has seen yet is as unknown as what was removed.
    const known = [baseline?.from === -Infinity ? stateKey(baseline.state) : stateKey(null), ...told];
    let at = 0;
    for (const { state, from, until } of lives) {
      const needed = state === null ? pollsToMiss : pollsToSee;
      const within = ownPolls.filter((poll) => poll.from >= from && poll.to <= until);
      const key = stateKey(state);
      if (within.length < needed || known[at] === key) continue;
      const next = known.indexOf(key, at + 1);
      if (next === -1) violations.push(`lost: ${id} was never told that ${filingId} was ${key}`);
      else at = next;
    }
    const last = stateKey(lives.at(-1)?.state ?? null);
    if (known.at(-1) !== last)
      violations.push(`convergence: ${id} believes ${filingId} to be ${known.at(-1)}, it is ${last}`);
  }
  return violations;
}
