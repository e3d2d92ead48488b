import { matchesEvent, type Matchable, type Wishes } from '../matches-event.ts';
import type { Wanted } from '../store/stored-subscription.ts';

/** Subscriptions by what they want: an event is compared once with the wishes that many share. */
export interface WishGroups {
  readonly groups: readonly WishGroup[];
  /** Number of subscriptions. */
  readonly size: number;
  /** Bytes that they take in memory, roughly. */
  readonly bytes: number;
}

interface WishGroup {
  readonly wishes: Wishes;
  readonly ids: string[];
}

// Bytes of a string and of a group beside their characters, roughly.
const stringBytes = 24;
const groupBytes = 400;

/** The groups of these subscriptions; pure. */
export function groupByWishes(wanted: readonly Wanted[]): WishGroups {
  const groups = new Map<string, WishGroup>();
  let bytes = 0;
  for (const { id, eventTypes, states, statuses = null, confined = false } of wanted) {
    const wishes = { eventTypes, states, statuses, confined };
    const text = JSON.stringify(wishes);
    const known = groups.get(text);
    if (known !== undefined) known.ids.push(id);
    else {
      groups.set(text, { wishes, ids: [id] });
      bytes += groupBytes + 2 * text.length;
    }
    bytes += stringBytes + id.length;
  }
  return { groups: [...groups.values()], size: wanted.length, bytes };
}

/** Ids of those that want one of these events; pure. */
export function idsWanting({ groups }: WishGroups, events: readonly Matchable[]): string[] {
  const wanting = groups.filter(({ wishes }) => events.some((event) => matchesEvent(wishes, event)));
  return wanting.flatMap(({ ids }) => ids);
}
