import type { OutlinedEntry } from '../../events/event-log.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { matchesEvent, type Wishes } from '../../subscriptions/matches-event.ts';
import { wantedOf } from '../../subscriptions/store/stored-subscription.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { SendResult } from '../settlement.ts';
import type { LoadedSubscription } from '../store/account-store.ts';
import type { SubscriptionQueue } from './queue.ts';

/** A subscription of an account that is delivered to. */
export interface Member {
  readonly id: string;
  /** As stored. */
  settings: string;
  delivery: DeliveryState;
  group: Group;
  /** Its position while it has no queue. */
  position: number;
  /** At the level nothing waits but what is due later: every event up to the level is done. */
  isLevel: boolean;
  /** Whether it reads the log by itself, being too far behind. */
  reads: boolean;
  /** Whether its cursor is stored as one that counts although the level is beyond it. */
  lags: boolean;
  /** Since when it holds the level, monotonic ms; null while it does not. */
  holdsSince: number | null;
  queue: SubscriptionQueue | null;
  results: SendResult[];
  /** Whether something of it is being read or asked. */
  isBusy: boolean;
  /** Whether it stands in the list of those to be looked at. */
  isListed: boolean;
  /** Whether its queue belongs to settings that cannot be used any more. */
  isStale: boolean;
  /** Whether there may be more to read of its replay. */
  mayReplay: boolean;
  /** Whether its record could not be read: its position is not known, and the level stays as it is. */
  isBroken: boolean;
  /** Whether nothing is sent to it before it is due, whatever comes. */
  isBarred: boolean;
  /** Whether it waits for the proxy, which may be back with any run. */
  isHeld: boolean;
}

/** Subscriptions that want the same events. */
export interface Group {
  /** Null where they cannot be read: every event is for them. */
  readonly wishes: Wishes | null;
  readonly key: string;
  /** Those of them that are at the level. */
  readonly level: Set<Member>;
}

/** The subscriptions of an account: those at the level, those to be looked at, and when each is due. */
export interface Members {
  readonly all: ReadonlyMap<string, Member>;
  /** The subscriptions that are not at the level. */
  readonly own: ReadonlySet<Member>;
  /** Those with something to write. */
  readonly touched: Set<Member>;
  /** When each is due, milliseconds on Redis's clock. */
  readonly due: ReadonlyMap<Member, number>;
  add(id: string, record: LoadedSubscription, position: number): Member;
  remove(member: Member): void;
  /** Takes up settings as they are stored. */
  settingsAre(member: Member, settings: string): void;
  /** From now on nothing is done for it before an event comes that it wants, or it is due. */
  toLevel(member: Member): void;
  /** It has something to do from the level on, which is `level`. */
  leaveLevel(member: Member, level: number): void;
  /**
   * Those at the level that may want some of these entries leave it; all of them where positions have no
   * entry.
   */
  wake(entries: readonly OutlinedEntry[], hasGap: boolean, former: number, known: number): void;
  /** It is to be looked at. */
  look(member: Member): void;
  hasListed(): boolean;
  /** Removes and returns the next that is to be looked at; null when there is none. */
  next(): Member | null;
  /** It is due at a time; null for not before something changes. */
  dueAt(member: Member, at: number | null): void;
  /** The earliest due time or an earlier one; Infinity for none. */
  nextDue(): number;
  /** Removes and returns those that are due by now, or all. */
  takeDue(now: number, all: boolean): Member[];
  clear(): void;
}

// Minimum number of lanes that are kept in memory while nothing of them is due.
const lanesWorthKeeping = 100;

// Number of members taken from the list after which its room is given back.
const listedAtOnce = 1_024;

/** Every event up to this position is done for it. */
export function positionOf({ queue, position }: Member): number {
  return queue?.position() ?? position;
}

/** No subscriptions yet. */
export function createMembers(): Members {
  const groups = new Map<string, Group>();
  const all = new Map<string, Member>();
  const own = new Set<Member>();
  const touched = new Set<Member>();
  const due = new Map<Member, number>();
  let nextDue = Infinity;
  let listed: Member[] = [];
  let taken = 0;

  function groupOf(settings: string, id: string): Group {
    const wishes = wishesOf(settings, id);
    const { eventTypes, states, statuses = null, confined = false } = wishes ?? {};
    const key = wishes === null ? '' : JSON.stringify([eventTypes, states, statuses, confined]);
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group: Group = { wishes, key, level: new Set() };
    groups.set(key, group);
    return group;
  }

  function look(member: Member): void {
    if (member.isListed || member.isLevel || all.get(member.id) !== member) return;
    member.isListed = true;
    listed.push(member);
  }

  function leaveLevel(member: Member, level: number): void {
    if (!member.isLevel) return;
    member.isLevel = false;
    member.mayReplay = true;
    member.group.level.delete(member);
    own.add(member);
    member.position = Math.max(level, member.position);
    member.queue?.skipTo(member.position);
    look(member);
  }

  return {
    all,
    own,
    touched,
    due,
    add(id, { settings, delivery }, position) {
      const member: Member = {
        id,
        settings,
        delivery,
        group: groupOf(settings, id),
        position,
        isLevel: false,
        reads: false,
        lags: delivery.lags,
        holdsSince: null,
        queue: null,
        results: [],
        isBusy: false,
        isListed: false,
        isStale: false,
        mayReplay: true,
        isBroken: false,
        isBarred: false,
        isHeld: false,
      };
      all.set(id, member);
      own.add(member);
      return member;
    },
    remove(member) {
      member.queue?.close();
      all.delete(member.id);
      own.delete(member);
      touched.delete(member);
      due.delete(member);
      member.group.level.delete(member);
      if (member.group.level.size === 0) groups.delete(member.group.key);
    },
    settingsAre(member, settings) {
      member.settings = settings;
      const group = groupOf(settings, member.id);
      if (group === member.group) return;
      const isLevel = member.group.level.delete(member);
      member.group = group;
      if (isLevel) group.level.add(member);
    },
    toLevel(member) {
      const { queue, group } = member;
      member.position = positionOf(member);
      if (queue !== null && queue.lanes() < lanesWorthKeeping) {
        member.delivery = queue.close();
        member.queue = null;
      }
      member.isLevel = true;
      member.reads = false;
      member.holdsSince = null;
      own.delete(member);
      // The group may have been forgotten while all of it were away from the level.
      const kept = groups.get(group.key) ?? group;
      groups.set(group.key, kept);
      member.group = kept;
      kept.level.add(member);
    },
    leaveLevel,
    wake(entries, hasGap, former, known) {
      for (const group of groups.values()) {
        if (group.level.size === 0) continue;
        const wanted = hasGap ? known : lastWanted(group, entries);
        for (const member of wanted > 0 ? [...group.level] : [])
          if (member.position < wanted) leaveLevel(member, former);
      }
      for (const member of own) if (!member.reads) look(member);
    },
    look,
    hasListed: () => taken < listed.length,
    next() {
      const member = listed[taken];
      if (member === undefined) return null;
      taken += 1;
      if (taken === listed.length || taken === listedAtOnce) {
        listed = listed.slice(taken);
        taken = 0;
      }
      member.isListed = false;
      return member;
    },
    dueAt(member, at) {
      if (at === null) return void due.delete(member);
      due.set(member, at);
      nextDue = Math.min(nextDue, at);
    },
    nextDue: () => nextDue,
    takeDue(now, isAll) {
      if (now < nextDue && !isAll) return [];
      const found: Member[] = [];
      nextDue = Infinity;
      for (const [member, at] of due)
        if (at > now && !isAll) nextDue = Math.min(nextDue, at);
        else found.push(member);
      for (const member of found) due.delete(member);
      return found;
    },
    clear() {
      for (const { queue } of all.values()) queue?.close();
      for (const each of [all, groups, own, touched, due]) each.clear();
      [listed, taken, nextDue] = [[], 0, Infinity];
    },
  };
}

// Null where they cannot be read.
function wishesOf(settings: string, id: string): Wishes | null {
  try {
    return wantedOf(settings, { key: '', field: id });
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return null;
  }
}

// The newest of these positions that a group may want; 0 for none. Nothing is decided by a body.
function lastWanted({ wishes }: Group, entries: readonly OutlinedEntry[]): number {
  const last = wishes === null ? entries.at(-1) : entries.findLast((entry) => matchesEvent(wishes, entry));
  return last?.position ?? 0;
}
