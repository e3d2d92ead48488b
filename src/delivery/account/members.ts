import type { OutlinedEntry } from '../../events/event-log.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { matchesEvent, type Wishes } from '../../subscriptions/matches-event.ts';
import { wantedOf } from '../../subscriptions/store/stored-subscription.ts';
import type { WaitReason } from '../../subscriptions/not-before.ts';
import type { DeliveryState } from '../../subscriptions/subscription.ts';
import type { SendResult } from '../settlement.ts';
import type { LoadedSubscription } from '../store/account-store.ts';
import type { NewEntries } from './log-window.ts';
import type { SubscriptionQueue } from './queue.ts';

/** Why nothing is sent to a subscription before a time. */
export interface NotBefore {
  /** Milliseconds on Redis's clock. */
  readonly at: number;
  readonly reason:
    | WaitReason
    | 'retry' // what waits is tried again then
    | 'places' // this process has as many callbacks in flight as it may
    | 'unreadable'; // its record is read again then
}

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
  /** When it began to hold the level back, monotonic ms. Null if it does not. */
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
  /** Null if it is not waiting for a time. */
  notBefore: NotBefore | null;
}

/** Subscriptions that want the same events. */
export interface Group {
  /** Null if they cannot be read: every event is then wanted. */
  readonly wishes: Wishes | null;
  readonly key: string;
  /** The members at the level. */
  readonly level: Set<Member>;
}

// Minimum number of lanes that are kept in memory while nothing of them is due.
const lanesWorthKeeping = 100;

// Number of members taken from the list after which its room is given back.
const listedAtOnce = 1_024;

/** The subscriptions of an account: those at the level, those to be looked at, and when each is due. */
export class Members {
  readonly all = new Map<string, Member>();
  /** The subscriptions that are not at the level. */
  readonly own = new Set<Member>();
  /** The members that are stored as lagging. */
  readonly lagging = new Set<Member>();
  /** Those with something to write. */
  readonly touched = new Set<Member>();
  /** The members that wait for a time. */
  readonly waiting = new Set<Member>();
  readonly #groups = new Map<string, Group>();
  #nextDue = Infinity;
  #listed: Member[] = [];
  #taken = 0;

  add(id: string, { settings, delivery }: LoadedSubscription, position: number): Member {
    const member: Member = {
      id,
      settings,
      delivery,
      group: this.#groupOf(settings, id),
      position,
      isLevel: false,
      reads: false,
      lags: false,
      holdsSince: null,
      queue: null,
      results: [],
      isBusy: false,
      isListed: false,
      isStale: false,
      mayReplay: true,
      isBroken: false,
      notBefore: null,
    };
    this.all.set(id, member);
    this.own.add(member);
    this.lagsNow(member, delivery.lags);
    return member;
  }

  remove(member: Member): void {
    member.queue?.close();
    this.all.delete(member.id);
    this.own.delete(member);
    for (const each of [this.lagging, this.touched, this.waiting]) each.delete(member);
    member.group.level.delete(member);
    if (member.group.level.size === 0) this.#groups.delete(member.group.key);
  }

  /** Takes up settings as they are stored. */
  settingsAre(member: Member, settings: string): void {
    member.settings = settings;
    const group = this.#groupOf(settings, member.id);
    if (group === member.group) return;
    const isLevel = member.group.level.delete(member);
    member.group = group;
    if (isLevel) group.level.add(member);
  }

  /** From now on nothing is done for it before an event comes that it wants, or it is due. */
  toLevel(member: Member): void {
    const { queue, group } = member;
    member.position = positionOf(member);
    if (queue !== null && queue.lanes() < lanesWorthKeeping) {
      member.delivery = queue.close();
      member.queue = null;
    }
    member.isLevel = true;
    member.reads = false;
    member.holdsSince = null;
    this.own.delete(member);
    // The group may have been forgotten while all of it were away from the level.
    member.group = this.#groups.get(group.key) ?? group;
    this.#groups.set(group.key, member.group);
    member.group.level.add(member);
  }

  /** Its cursor is stored as one that counts although the level is beyond it, or is not any more. */
  lagsNow(member: Member, lags: boolean): void {
    member.lags = lags;
    if (lags) this.lagging.add(member);
    else this.lagging.delete(member);
  }

  /** It has something to do from the level on, which is `level`. */
  leaveLevel(member: Member, level: number): void {
    if (!member.isLevel) return;
    member.isLevel = false;
    member.mayReplay = true;
    member.group.level.delete(member);
    this.own.add(member);
    member.position = Math.max(level, member.position);
    member.queue?.skipTo(member.position);
    this.look(member);
  }

  /**
   * Moves the members that may want some of these entries off the level; all of them if positions have no
   * entry. `known` is the newest position, these included.
   */
  wake({ entries, hasGap, former }: NewEntries, known: number): void {
    for (const group of this.#groups.values()) {
      if (group.level.size === 0) continue;
      const wanted = hasGap ? known : lastWanted(group, entries);
      for (const member of wanted > 0 ? [...group.level] : [])
        if (member.position < wanted) this.leaveLevel(member, former);
    }
    for (const member of this.own) if (!member.reads) this.look(member);
  }

  /** Lists a member to be looked at, unless it is at the level. */
  look(member: Member): void {
    if (member.isListed || member.isLevel || this.all.get(member.id) !== member) return;
    member.isListed = true;
    this.#listed.push(member);
  }

  hasListed(): boolean {
    return this.#taken < this.#listed.length;
  }

  /** Removes and returns the next listed member. Null if there is none. */
  next(): Member | null {
    const { [this.#taken]: member } = this.#listed;
    if (member === undefined) return null;
    this.#taken += 1;
    if (this.#taken === this.#listed.length || this.#taken === listedAtOnce) {
      this.#listed = this.#listed.slice(this.#taken);
      this.#taken = 0;
    }
    member.isListed = false;
    return member;
  }

  /** It is due at a time; null for not before something changes. */
  waits(member: Member, notBefore: NotBefore | null): void {
    member.notBefore = notBefore;
    if (notBefore === null) return void this.waiting.delete(member);
    this.waiting.add(member);
    this.#nextDue = Math.min(this.#nextDue, notBefore.at);
  }

  /** The proxy may be back: the members that wait for it become due. */
  proxyIsBack(): void {
    for (const member of this.waiting)
      if (member.notBefore?.reason === 'proxy') this.waits(member, { at: 0, reason: 'proxy' });
  }

  /** When the first of all is due, milliseconds on Redis's clock; Infinity for none. */
  firstDue(): number {
    let first = Infinity;
    for (const { notBefore } of this.waiting) first = Math.min(first, notBefore?.at ?? Infinity);
    return first;
  }

  /** The earliest due time or an earlier one; Infinity for none. */
  nextDue(): number {
    return this.#nextDue;
  }

  /** Removes and returns those that are due by now, or all. */
  takeDue(now: number, isAll: boolean): Member[] {
    if (now < this.#nextDue && !isAll) return [];
    const found: Member[] = [];
    this.#nextDue = Infinity;
    for (const member of this.waiting) {
      const at = member.notBefore?.at ?? 0;
      if (at > now && !isAll) this.#nextDue = Math.min(this.#nextDue, at);
      else found.push(member);
    }
    for (const member of found) this.waits(member, null);
    return found;
  }

  clear(): void {
    for (const { queue } of this.all.values()) queue?.close();
    for (const each of [this.all, this.#groups, this.own, this.lagging, this.touched, this.waiting])
      each.clear();
    this.#listed = [];
    this.#taken = 0;
    this.#nextDue = Infinity;
  }

  #groupOf(settings: string, id: string): Group {
    const wishes = wishesOf(settings, id);
    const { eventTypes, states, statuses = null, confined = false } = wishes ?? {};
    const key = wishes === null ? '' : JSON.stringify([eventTypes, states, statuses, confined]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group: Group = { wishes, key, level: new Set() };
    this.#groups.set(key, group);
    return group;
  }
}

/** Whether it keeps back every event, and not only those that wait already. */
export function keepsAllBack({ reason }: NotBefore): boolean {
  return reason !== 'retry' && reason !== 'rate' && reason !== 'places';
}

/** Every event up to this position is done for it. */
export function positionOf({ queue, position }: Member): number {
  return queue?.position() ?? position;
}

// Null if the settings cannot be read.
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
