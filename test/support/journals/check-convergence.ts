import {
  baselineOf,
  checkOrigin,
  checkSignature,
  countRepeats,
  firstSights,
  isAcknowledged,
  toEvent,
} from './check-callbacks.ts';
import { stateKey, type TapedEvent } from './check-chain.ts';
import type { Journals } from './journals.ts';

/** What the journals of a run show in which Redis was set back. */
export interface Convergence {
  /** Broken promises, each with the rule it breaks in front. */
  readonly violations: readonly string[];
  /** Different events that were acknowledged, per subscriber, added up. */
  readonly events: number;
  readonly callbacks: number;
  /** Deliveries of events that their subscriber had acknowledged before. */
  readonly repeats: number;
}

/**
 * The rules that hold whatever Redis has forgotten; pure. Each subscriber's last word on each filing is what
 * the partner service shows; an id and a sequence stand for one state each; callbacks verify, belong to the
 * subscriber's account and say what was served before. Repeats and gaps are free.
 */
export function checkConvergence(journals: Journals): Convergence {
  const violations = findUnconverged(journals);
  const servedSince = firstSights(journals);
  let events = 0;
  let repeats = 0;
  for (const subscriber of journals.subscribers) {
    const own = journals.callbacks.filter(({ subscription }) => subscription === subscriber.id);
    violations.push(...own.flatMap((callback) => checkSignature(subscriber, callback)));
    const taped = own.map(toEvent);
    const ofFilings = taped.filter(({ type }) => type.startsWith('filing.'));
    violations.push(...checkIds(subscriber.id, ofFilings));
    violations.push(...ofFilings.flatMap((event) => checkOrigin(servedSince, subscriber, event)));
    for (const [filingId, chain] of Map.groupBy(ofFilings, (event) => event.filingId))
      violations.push(...checkSequences(`${filingId} at ${subscriber.id}`, chain));
    events += new Set(taped.filter(isAcknowledged).map(({ id }) => id)).size;
    repeats += countRepeats(taped);
  }
  return { violations, events, callbacks: journals.callbacks.length, repeats };
}

/**
 * The filings of which a subscriber's last word is not what the partner service shows, once for the word with
 * the greatest sequence (rule `greatest`) and once for the one that came last (rule `last`); pure. Only what
 * was acknowledged counts; before the first word it is the baseline.
 */
export function findUnconverged({ dwells, subscribers, callbacks }: Journals): string[] {
  const violations: string[] = [];
  const shown = Map.groupBy(dwells, ({ account }) => account);
  for (const { id, account } of subscribers) {
    const own = callbacks.filter(({ subscription }) => subscription === id);
    const heard = own
      .map(toEvent)
      .filter(isAcknowledged)
      .toSorted((a, b) => a.arrivedAt - b.arrivedAt);
    const chains = Map.groupBy(heard, ({ filingId }) => filingId);
    const lives = Map.groupBy(shown.get(account) ?? [], ({ filingId }) => filingId);
    for (const [filingId, states] of lives) {
      const is = stateKey(states.at(-1)?.state ?? null);
      const before = stateKey(baselineOf({ dwells: states }, account, filingId));
      const chain = chains.get(filingId) ?? [];
      for (const [rule, word] of [
        ['greatest', chain.toSorted((a, b) => a.sequence - b.sequence).at(-1)],
        ['last', chain.at(-1)],
      ] as const) {
        const known = word === undefined ? before : saidBy(word);
        if (known !== is) violations.push(`${rule}: ${id} knows ${filingId} as ${known}, it is ${is}`);
      }
    }
  }
  return violations;
}

function saidBy(event: TapedEvent): string {
  return stateKey(event.type === 'filing.removed' ? null : event);
}

// What else the filing's document holds may have changed before the change was detected again.
function checkIds(subscriber: string, events: readonly TapedEvent[]): string[] {
  return [...Map.groupBy(events, ({ id }) => id)].flatMap(([id, same]) => {
    const said = new Set(same.map((event) => `${event.filingId} ${event.sequence} ${saidBy(event)}`));
    return said.size === 1 ? [] : [`id: ${id} said ${[...said].join(' and ')} to ${subscriber}`];
  });
}

function checkSequences(where: string, events: readonly TapedEvent[]): string[] {
  return [...Map.groupBy(events.filter(isAcknowledged), ({ sequence }) => sequence)].flatMap(
    ([sequence, same]) => {
      const said = new Set(same.map(saidBy));
      return said.size === 1 ? [] : [`sequence: ${where}: ${sequence} said ${[...said].join(' and ')}`];
    },
  );
}
