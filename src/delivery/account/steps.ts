import { toUnreadable, type ReportStanding } from '../../redis/unreadable-record.ts';
import { judgeInTurns } from '../../subscriptions/content-filter/selection.ts';
import { isAskedAgain } from '../../subscriptions/options/auto-enable.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { Block, DeliveryState, Subscription } from '../../subscriptions/subscription.ts';
import type { AccountShares } from '../account-shares.ts';
import type { EndExpired } from '../expiry.ts';
import type { HeldSubscriptions } from '../held.ts';
import type { Verifier } from '../ownership.ts';
import { pauseAt } from '../schedule/endpoint-health.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { SendResult } from '../settlement.ts';
import type { AccountStore, LoadedSubscription } from '../store/account-store.ts';
import { blockAfter, type BlockStore } from '../store/block-store.ts';
import { allOf } from './log-window.ts';
import { keepsAllBack, positionOf, type Member, type NotBefore } from './members.ts';
import type { Behind, OpenAccount } from './open-account.ts';
import { SubscriptionQueue, type QueueDeps, type QueueStart, type ReadySubscription } from './queue.ts';

/** A subscription as it was opened from its settings, or why nothing may be sent to it. */
export type Opened =
  | ReadySubscription
  | { readonly kind: 'unverified'; readonly subscription: Subscription } // its endpoint has yet to be verified
  | { readonly kind: 'unusable'; readonly reason: string }; // for good; the reason says what the operator can do

export interface StepDeps extends QueueDeps {
  readonly store: Pick<AccountStore, 'waiting' | 'read'>;
  readonly shares: AccountShares;
  readonly blocks: BlockStore;
  readonly verifier: Pick<Verifier, 'whenDue'>;
  readonly endExpired: EndExpired;
  /** When to look again at a subscription whose callbacks have to wait for the proxy; null if not. */
  readonly heldUntil: HeldSubscriptions['heldUntil'];
  /** Opens a subscription from its settings as stored. */
  readonly open: (account: string, id: string, settings: string) => Opened;
  /** Called when a record cannot be read without which nothing is sent to a subscription. */
  readonly reportStanding: ReportStanding;
  /** Called after unusable settings have blocked a subscription. */
  readonly onBlocked: (account: string, id: string, block: Block) => void;
}

/** Maximum number of entries read at a time, for all subscriptions or for one that reads by itself. */
export const entriesAtOnce = 100;
// Milliseconds until a record that cannot be read is read again, until an expired subscription is looked at
// again that could not be ended, and until one is that has found no place for its callbacks.
const brokenMs = 5_000;
const unendedMs = 60_000;
const starvedMs = 50;

/** What is done for one member of an account at a time. */
export class Steps {
  readonly #deps: StepDeps;
  readonly #account: OpenAccount;
  readonly #refresh: (id: string) => Promise<void>;

  /** `refresh` reads the record of a subscription again. */
  constructor(deps: StepDeps, account: OpenAccount, refresh: (id: string) => Promise<void>) {
    this.#deps = deps;
    this.#account = account;
    this.#refresh = refresh;
  }

  /** Reads and starts for one member, whatever it needs first; true when an attempt was started. */
  step(member: Member): boolean {
    if (member.isBusy) return false;
    const { queue } = member;
    if (queue === null) {
      this.#open(member);
      return false;
    }
    const { touched } = this.#account.members;
    const isIdle = queue.inFlight() === 0;
    const mustClose = member.isStale || queue.isExpired();
    const held = isIdle ? this.#held(queue.subscription()) : null;
    if ((mustClose || held !== null) && queue.isDirty() && isIdle) {
      touched.add(member);
      return false;
    }
    if (mustClose) {
      if (isIdle) this.#reopen(member, queue);
      return false;
    }
    if (held !== null) {
      this.#sleep(member, held);
      return false;
    }
    this.#read(member, queue);
    // Together with the next result if one is to come, and with what is being read.
    if (queue.isDirty() && isIdle && !member.isBusy) touched.add(member);
    const waitsForRead = member.isBusy && !queue.fillsPlaces();
    if (!waitsForRead) {
      if (this.#isStarved(member, queue)) return false;
      if (this.#start(member, queue.start())) return true;
    }
    if (member.isBusy || queue.inFlight() > 0 || touched.has(member)) return false;
    const isAllRead = queue.readTo() >= this.#account.window.known().position;
    if (isAllRead && this.#start(member, queue.ask())) return true;
    this.#rest(member, queue);
    return false;
  }

  /**
   * One that cannot be read stands still, and the level with it; the others go on. Rejects with other errors.
   */
  async leaveOut(member: Member, error: unknown): Promise<void> {
    const { name, members } = this.#account;
    const { blocks, reportStanding, now } = this.#deps;
    const unreadable = await reportStanding(name, error);
    if (unreadable === null) throw error;
    member.queue?.close();
    member.queue = null;
    // Their events are sent again.
    this.#account.results -= member.results.length;
    member.results = [];
    member.isBroken = true;
    members.touched.delete(member);
    try {
      const settings = await blocks.settings(name, member.id);
      if (settings !== null) await this.#holdBack(member, settings, unreadable.message);
    } catch (failed) {
      if (toUnreadable(failed) === null) throw failed;
    }
    const at = now() + brokenMs;
    if ((member.notBefore?.at ?? 0) < at) members.waits(member, { at, reason: 'unreadable' });
  }

  /** Takes up settings and state as they are stored now. */
  async follow(member: Member, { settings, delivery }: LoadedSubscription): Promise<void> {
    const { name, members, window, stored } = this.#account;
    const { store, open } = this.#deps;
    if (member.isBroken) {
      member.isBroken = false;
      member.position = effectivePosition(delivery, stored.level);
    }
    members.settingsAre(member, settings);
    member.delivery = delivery;
    members.waits(member, null);
    if (member.queue !== null) {
      const waiting = delivery.replaying > 0 ? await store.waiting(name, member.id) : null;
      const ready = open(name, member.id, settings);
      member.isStale = ready.kind !== 'ready';
      if (ready.kind === 'ready') member.queue.follow({ ready, delivery, replays: waiting?.replays ?? [] });
      if (member.queue.isDirty()) members.touched.add(member);
    }
    members.leaveLevel(member, window.known().position);
    members.look(member);
  }

  // Does nothing for it before a time, or, with null, before something changes.
  #sleep(member: Member, notBefore: NotBefore | null): void {
    const { members, window } = this.#account;
    members.waits(member, notBefore);
    const isAtLevel = positionOf(member) >= window.known().position && !member.lags && !member.isBroken;
    if (isAtLevel) members.toLevel(member);
    // Events that it misses are not kept in memory for it.
    else member.reads = true;
  }

  #open(member: Member): void {
    const { id, settings, delivery, notBefore } = member;
    const { name } = this.#account;
    const { open, now, store, blocks } = this.#deps;
    if (notBefore !== null && keepsAllBack(notBefore)) return this.#sleep(member, notBefore);
    if (!delivery.enabled && delivery.disabledAt === 0) return this.#sleep(member, null);
    if (member.isBroken) return this.#whileBusy(member, () => this.#refresh(id));
    const ready = open(name, id, settings);
    if (ready.kind !== 'ready' && !delivery.enabled) return this.#sleep(member, null);
    if (ready.kind === 'unverified') return this.#ask(member, ready.subscription);
    if (ready.kind === 'unusable')
      return this.#thenSleep(member, () => this.#holdBack(member, settings, ready.reason));
    const isAsked = isAskedAgain(delivery, ready.subscription, now());
    if (!delivery.enabled && !isAsked) return this.#sleep(member, null);
    if (isExpired(ready.subscription, now())) return this.#endExpired(member);
    const waits = this.#held(ready.subscription) ?? this.#waitOf(member);
    if (waits !== null) return this.#sleep(member, waits);
    if (delivery.parked === 0 && delivery.replaying === 0 && delivery.blocked === null)
      return this.#begin(member, { ready, lanes: new Map(), replays: [] });
    this.#whileBusy(member, async () => {
      const waiting = await store.waiting(name, id);
      if (delivery.blocked !== null && (await blocks.set(name, id, settings, null)))
        member.delivery = { ...member.delivery, blocked: null };
      this.#begin(member, { ready, ...waiting });
    });
  }

  // When to look again if callbacks have to wait for the proxy. Null if they do not.
  #held({ url }: Subscription): NotBefore | null {
    const at = this.#deps.heldUntil(this.#account.name, url);
    return at === null ? null : { at, reason: 'proxy' };
  }

  // For what it waits by its stored state, if it is paused or waits only for a retry.
  #waitOf({ delivery, position, lags }: Member): NotBefore | null {
    const at = this.#deps.now();
    const { pausedUntil, nextAttemptAt, replaying, parked, done, settledAt } = delivery;
    if (delivery.release || aheadMsOf(settledAt, at) > 0) return null;
    if (pauseAt(delivery, at) === 'pausing') return { at: pausedUntil, reason: 'paused' };
    const waitsForRetry = replaying === 0 && parked > 0 && nextAttemptAt > at;
    const isAtLevel = position >= this.#account.window.known().position && done === '' && !lags;
    return waitsForRetry && isAtLevel ? { at: nextAttemptAt, reason: 'retry' } : null;
  }

  #begin(member: Member, found: Pick<QueueStart, 'ready' | 'lanes' | 'replays'>): void {
    const { name: account, members } = this.#account;
    const { id, delivery, position, isBroken } = member;
    // It was left out while it was being opened.
    if (isBroken) return;
    member.queue = new SubscriptionQueue(this.#deps, { account, id, delivery, position, ...found });
    member.isStale = false;
    members.waits(member, null);
    members.look(member);
  }

  #reopen(member: Member, queue: SubscriptionQueue): void {
    member.position = queue.position();
    member.delivery = { ...member.delivery, ...queue.close() };
    member.queue = null;
    member.isStale = false;
    this.#open(member);
  }

  // Work for a member; nothing else is done for it before that has ended.
  #busy(member: Member, work: () => Promise<void>, end: () => void): void {
    member.isBusy = true;
    this.#account.tasks.begin(async () => {
      try {
        await work();
      } catch (error) {
        await this.leaveOut(member, error);
      } finally {
        member.isBusy = false;
      }
      end();
    });
  }

  #whileBusy(member: Member, work: () => Promise<void>): void {
    this.#busy(member, work, () => this.#account.members.look(member));
  }

  #thenSleep(member: Member, work: () => Promise<void>): void {
    const { members } = this.#account;
    this.#busy(member, work, () => {
      const isThere = members.all.get(member.id) === member;
      if (isThere && !member.isLevel) this.#sleep(member, member.notBefore);
    });
  }

  async #holdBack(member: Member, settings: string, reason: string): Promise<void> {
    const { name, members } = this.#account;
    const { blocks, now, random, onBlocked } = this.#deps;
    const block = blockAfter(await blocks.read(name, member.id), reason, now(), random);
    const isWritten = await blocks.set(name, member.id, settings, block);
    if (isWritten) {
      member.delivery = { ...member.delivery, blocked: block };
      onBlocked(name, member.id, block);
    }
    // Bytes that are not text never equal the text that was read; else the settings have changed.
    if (isWritten || settings.includes('\uFFFD'))
      members.waits(member, { at: block.nextAt, reason: 'blocked' });
    else this.#account.mustRead = true;
  }

  #ask(member: Member, subscription: Subscription): void {
    const { settings } = member;
    this.#thenSleep(member, async () => {
      const { verifier, now } = this.#deps;
      const at = await verifier.whenDue(settings, subscription);
      // Due at once means that its settings have changed: they are read first, or it would be asked again.
      const isUnread = at !== null && at <= now() && member.settings === settings;
      const until = isUnread ? now() + brokenMs : at;
      this.#account.members.waits(member, until === null ? null : { at: until, reason: 'unverified' });
      this.#account.mustRead = true;
    });
  }

  #endExpired(member: Member): void {
    const { name, members } = this.#account;
    this.#thenSleep(member, async () => {
      if (await this.#deps.endExpired(name, member.id)) return members.remove(member);
      members.waits(member, { at: this.#deps.now() + unendedMs, reason: 'expired' });
      this.#account.mustRead = true;
    });
  }

  #read(member: Member, queue: SubscriptionQueue): void {
    const { window, members } = this.#account;
    const known = window.known().position;
    if (queue.readTo() < known && queue.hasRoom()) {
      if (queue.readTo() < window.from()) return this.#readAlone(member, queue);
      const entries = window.behind(queue.readTo());
      const { filter = null } = queue.subscription();
      if (filter === null) queue.take({ entries, upTo: known });
      else
        return this.#whileBusy(member, async () => {
          await judgeInTurns(this.#deps.judge, queue.subscription(), entries);
          queue.take({ entries, upTo: known });
        });
    }
    if (queue.readTo() < known) return;
    if (member.reads) {
      member.reads = false;
      if (member.lags) members.touched.add(member);
    }
    if (!queue.hasReplays() || !member.mayReplay) return;
    member.mayReplay = false;
    this.#whileBusy(member, async () => {
      member.mayReplay = await queue.readReplay();
    });
  }

  // One that is far behind reads the log from its own place.
  #readAlone(member: Member, queue: SubscriptionQueue): void {
    this.#whileBusy(member, async () => {
      const known = this.#account.window.known().position;
      const found = await this.#readBehind(queue.readTo());
      if (typeof found === 'string') {
        this.#account.overtaken = found;
        return;
      }
      const { entries, more } = found.stretch;
      await judgeInTurns(this.#deps.judge, queue.subscription(), entries);
      const all = allOf(found.stretch);
      const before = all.filter(({ position }) => position <= known);
      const isAll = !more || before.length < all.length;
      queue.take({ entries: before, upTo: isAll ? known : (all.at(-1)?.position ?? 0) });
    });
  }

  // Subscriptions that are equally far behind share the last read.
  #readBehind(after: number): Behind['reading'] {
    const { name, fence, window, version, behind } = this.#account;
    const known = window.known();
    if (fence === null) return Promise.resolve('fenced');
    if (behind?.after === after && behind.known === known.position) return behind.reading;
    const reading = this.#deps.store.read(name, fence, known, version, entriesAtOnce, after);
    this.#account.behind = { after, known: known.position, reading };
    return reading;
  }

  // Whether it has an attempt to start and no place for it; it is looked at again soon then.
  #isStarved(member: Member, queue: SubscriptionQueue): boolean {
    const { shares, now } = this.#deps;
    const { name, members } = this.#account;
    if (shares.mayTake(name) || !queue.mayStart()) return false;
    members.waits(member, { at: now() + starvedMs, reason: 'places' });
    return true;
  }

  #start(member: Member, sending: Promise<SendResult> | null): boolean {
    if (sending === null) return false;
    const { name, members, tasks } = this.#account;
    const { shares } = this.#deps;
    const { queue } = member;
    const end = tasks.started();
    this.#account.inFlight += 1;
    shares.take(name);
    const ended = (failure?: { readonly error: unknown }): void => {
      this.#account.inFlight -= 1;
      shares.give(name);
      end(failure);
    };
    sending.then(
      (result) => {
        // A queue that was left out meanwhile takes no result.
        if (member.queue === queue) {
          if (this.#account.results === 0) this.#account.firstResultAt = performance.now();
          this.#account.results += 1;
          member.results.push(result);
          members.touched.add(member);
        }
        ended();
      },
      (error: unknown) => ended({ error }),
    );
    return true;
  }

  // Nothing can be done for it now.
  #rest(member: Member, queue: SubscriptionQueue): void {
    const { members, window } = this.#account;
    const known = window.known().position;
    members.waits(member, queue.notBefore());
    if (queue.readTo() < known) member.reads = true;
    else if (queue.position() < known) return;
    else if (member.lags) members.touched.add(member);
    else members.toLevel(member);
  }
}

/** The position up to which every event is done, by what is stored of a subscription and of its account. */
export function effectivePosition({ lags, cursor }: DeliveryState, level: number): number {
  return lags ? cursor : Math.max(cursor, level);
}
