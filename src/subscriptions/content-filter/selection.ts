import { hash } from 'node:crypto';
import { takeTurns } from '../../json/turns.ts';
import { matchesEvent, type Matchable } from '../matches-event.ts';
import type { Subscription } from '../subscription.ts';
import type { FilterJudge } from './judge.ts';

/** The fields of a subscription that decide which events it gets. */
export type Selecting = Pick<Subscription, 'eventTypes' | 'states' | 'statuses' | 'filter' | 'confined'>;

/** An event, with its body from the log if that has been read. */
export interface Selectable extends Matchable {
  readonly body?: Buffer;
}

/** The fate of an event; `undecided` ones are delivered. */
export type Choice = 'wanted' | 'undecided' | 'unwanted';

// Operational events are about the account and have no filing: a filter does not judge them.
const filingPrefix = 'filing.';

/**
 * Whether a subscription gets an event: first by its type, state and status (`matchesEvent`), then by its
 * filter. An event without its body counts as wanted until the body is read. One on which the filter cannot
 * decide is delivered, because an unwanted callback is better than a missed rejection.
 */
export function choose(judge: FilterJudge, subscription: Selecting, event: Selectable): Choice {
  if (!matchesEvent(subscription, event)) return 'unwanted';
  const { filter = null } = subscription;
  if (filter === null || !event.type.startsWith(filingPrefix)) return 'wanted';
  if (event.body === undefined) return 'wanted';
  const verdict = judge.judge(filter, event.body);
  return verdict === 'passes' ? 'wanted' : verdict === 'stays' ? 'unwanted' : 'undecided';
}

/**
 * Judges events in turns with other work of the process. The judge remembers its verdicts, so that a choice
 * among the same bodies takes no time afterwards.
 */
export async function judgeInTurns(
  judge: FilterJudge,
  selecting: Selecting,
  events: readonly Selectable[],
): Promise<void> {
  if (selecting.filter == null || events.length === 0) return;
  const turns = takeTurns();
  // The first turn is waited for, too: many drains begin together.
  await turns.next();
  for (const event of events) {
    if (turns.isOver()) await turns.next();
    choose(judge, selecting, event);
  }
}

/** The choice among the events of one subscription, whose settings may change meanwhile. */
export type Selection = ReturnType<typeof createSelection>;

export interface SelectionDeps {
  readonly judge: FilterJudge;
  /** Called for each event that counts. */
  readonly onUndecided: () => void;
}

/** Chooses by the settings that are in effect; `before` is what `undecided` of the drain before returned. */
export function createSelection(
  { judge, onUndecided }: SelectionDeps,
  inEffect: () => Selecting,
  before: string,
) {
  let stored = before;
  return {
    /** Whether the subscription gets the event. */
    wants: (event: Selectable): boolean => choose(judge, inEffect(), event) !== 'unwanted',
    /** The same for an event accepted from the log. It is counted if the filter cannot decide on it. */
    accepts(event: Selectable): boolean {
      const subscription = inEffect();
      const choice = choose(judge, subscription, event);
      if (choice === 'undecided') {
        stored = undecidedText(subscription.filter ?? '', undecidedCount(stored, subscription.filter) + 1);
        onUndecided();
      }
      return choice !== 'unwanted';
    },
    /**
     * Number of events that were counted, in its stored form. It restarts at 0 when the filter changes. Null
     * if there is no filter.
     */
    undecided(): string | null {
      const { filter = null } = inEffect();
      return filter === null ? null : undecidedText(filter, undecidedCount(stored, filter));
    },
  };
}

// The stored form of the number of events on which a filter could not decide: it says which filter.
function undecidedText(filter: string, count: number): string {
  return `${count} ${digestOf(filter)}`;
}

/**
 * Number of events on which a filter could not decide, from its stored form; 0 for another filter or none.
 */
export function undecidedCount(text: string, filter: string | null | undefined): number {
  const [count, digest] = text.split(' ');
  return filter != null && digest === digestOf(filter) ? Number(count) || 0 : 0;
}

// Twelve characters are enough to tell the filters of one subscription apart.
function digestOf(filter: string): string {
  return hash('sha256', filter).slice(0, 12);
}
