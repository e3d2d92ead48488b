import { setImmediate as othersFirst } from 'node:timers/promises';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { AccountStore, LoadedSubscription } from '../store/account-store.ts';
import type { Member } from './members.ts';
import { OpenAccount } from './open-account.ts';
import { attemptsAtOnce, holdMsMax, isLeftOver, settle } from './settle.ts';
import { effectivePosition, entriesAtOnce, Steps, type StepDeps } from './steps.ts';

export interface DelivererDeps extends Omit<StepDeps, 'store'> {
  readonly store: AccountStore;
}

/** How a run ended. */
export interface RunResult {
  /**
   * When the account is next due, in milliseconds on Redis's clock; null for not before something changes.
   */
  readonly wakeAt: number | null;
}

// Milliseconds after which those that keep others from getting new events read by themselves.
const patienceMs = 250;
// Milliseconds in which results are collected, until half of those in flight have come.
const gatherMs = 1;
// Maximum number of subscriptions that are opened although nothing waits for them.
const openedMax = 200;
// Maximum number of attempts started, and of subscriptions looked at, in one turn of the event loop.
const startsAtOnce = 20;
const looksAtOnce = 400;
// Milliseconds between two looks of a deliverer that waits for answers; each look doubles them.
const firstLookMs = 250;
const lookMsMax = 1_000;
// Maximum milliseconds for which a run with nothing in flight waits for a rate.
const stayMsMax = 1_100;
// Bytes of a subscription beside its settings, and of a lane, roughly.
const memberBytes = 1_500;
const laneBytes = 200;

// What is known of a subscription whose record cannot be read.
const noRecord: LoadedSubscription = { settings: '', delivery: parseDeliveryState({}) };

/**
 * Delivers the events of one account to its subscriptions, in one process at a time. It knows nothing of the
 * account at first.
 */
export class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #account: OpenAccount;
  readonly #steps: Steps;
  // Whether what is to be read is read by this run: not from its last step on.
  #isRunning = false;
  #isReading = false;
  #isSettling = false;
  // When the log was last read, and last written to, monotonic ms.
  #readAt = 0;
  #settledAt = 0;
  // Milliseconds until the next look.
  #lookMs = firstLookMs;
  // When due times were last compared, milliseconds on Redis's clock.
  #lookedAt = 0;
  // When the window ran out of room for new entries, monotonic ms. Null if it has room.
  #fullSince: number | null = null;

  constructor(deps: DelivererDeps, name: string) {
    this.#deps = deps;
    this.#account = new OpenAccount(name);
    this.#steps = new Steps(deps, this.#account, (id) => this.#refresh([id]));
  }

  /**
   * Delivers all that can be delivered now. Ends when nothing can be sent, when another deliverer has
   * begun, or when the signal aborts; callbacks in flight are finished first. The state of the account is
   * kept for the next run, and believed as long as no other deliverer has begun. Rejects when Redis fails,
   * as soon as nothing is in flight; the next run sends those events again under the same ids.
   */
  async run(signal: AbortSignal): Promise<RunResult> {
    const { tasks } = this.#account;
    const onAbort = () => tasks.poke();
    signal.addEventListener('abort', onAbort);
    this.#isRunning = true;
    try {
      const isOpen = await this.#open();
      if (isOpen) await this.#deliver(signal);
      this.#isRunning = false;
      return isOpen ? this.#end(signal.aborted) : { wakeAt: null };
    } catch (error) {
      this.#isRunning = false;
      while (tasks.count() > 0) await tasks.sleep(lookMsMax);
      this.#account.forget();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** A running deliverer reads on: there may be new events or settings. False when it will not any more. */
  readOn(): boolean {
    const { members, tasks, overtaken } = this.#account;
    if (!this.#isRunning || overtaken !== null) return false;
    this.#account.mustRead = true;
    members.proxyIsBack();
    tasks.poke();
    return true;
  }

  /** Bytes that it keeps between two runs, roughly. */
  weight(): number {
    const { members, window } = this.#account;
    let bytes = window.bytes();
    for (const { settings, queue } of members.all.values())
      bytes += memberBytes + 2 * settings.length + (queue?.lanes() ?? 0) * laneBytes;
    return bytes;
  }

  // The story: read what is new, look at those that are due or have something to do, write what has come
  // back; until nothing can be done any more.
  async #deliver(signal: AbortSignal): Promise<void> {
    const account = this.#account;
    const { members, tasks } = account;
    for (;;) {
      const stops = signal.aborted || account.overtaken !== null;
      const failure = tasks.failure();
      if (failure !== null) throw failure.error;
      if (!stops) {
        this.#lookAtDue();
        this.#giveWay();
        if (this.#mayRead()) this.#startReading();
        if (!account.hasChanged) this.#lookAtSome();
      }
      if (this.#maySettle()) this.#startSettling(false);
      const isDone = stops || (!members.hasListed() && !this.#hasMoreToRead());
      const hasToWrite = account.overtaken === null && members.touched.size > 0;
      if (isDone && tasks.count() === 0 && !hasToWrite) {
        const mayEnd = account.overtaken !== null || stops || !this.#staysForRate();
        this.#isRunning = !(mayEnd && this.#isWritten());
        if (!this.#isRunning) return;
        if (mayEnd) {
          this.#startSettling(true);
          continue;
        }
      }
      // oxlint-disable no-await-in-loop
      if (members.hasListed() && !stops) await othersFirst();
      else await tasks.sleep(this.#sleepMs(stops));
      // oxlint-enable no-await-in-loop
    }
  }

  // Whether nothing is to be written before the run ends, or can be.
  #isWritten(): boolean {
    const { overtaken, stored } = this.#account;
    return overtaken !== null || !(isLeftOver(this.#account, this.#deps.now()) || this.#wasAhead(stored.at));
  }

  #wasAhead(at: number): boolean {
    return aheadMsOf(at, this.#deps.now()) > 0;
  }

  #hasMoreToRead(): boolean {
    return this.#account.mustRead || this.#account.window.hasMore();
  }

  // Opens the account, or continues with what is known of it. False if there is nothing to deliver to.
  async #open(): Promise<boolean> {
    const account = this.#account;
    account.tasks.reset();
    account.overtaken = null;
    account.mustRead = false;
    account.hasChanged = false;
    this.#settledAt = performance.now();
    if (account.fence !== null) {
      await this.#readLog();
      if (account.overtaken === null) {
        account.members.proxyIsBack();
        for (const member of account.members.own) account.members.look(member);
        return true;
      }
      account.forget();
    }
    return this.#openAnew();
  }

  async #openAnew(): Promise<boolean> {
    const account = this.#account;
    const { members, window } = account;
    const opened = await this.#deps.store.open(account.name);
    if (opened === null) return false;
    account.begin(opened);
    const { level, ids, head } = opened;
    await this.#refresh(ids, opened.isBroughtBack ? level.position : null);
    // If all are past the level, nothing before them is read again.
    let first = head.position;
    for (const { lags, isBroken, position } of members.all.values())
      if (!lags && !isBroken) first = Math.min(first, position);
    if (first > level.position) window.beginAt({ position: first, timeline: '' });
    for (const member of members.own) member.reads = member.position < window.known().position;
    account.mustRead = true;
    return true;
  }

  // Puts a member at the level if it needs nothing done now. If there are few, each is opened once, so that
  // unusable settings show before an event comes.
  #place(member: Member): void {
    const { members, window } = this.#account;
    const { delivery, position } = member;
    const { parked, replaying, release: isReleased, blocked, done, enabled, disabledAt, lags } = delivery;
    const isAtLevel = position >= window.known().position && !lags && done === '';
    const isWaiting = parked > 0 || replaying > 0 || isReleased || blocked !== null;
    const isDue = enabled ? isWaiting : disabledAt > 0;
    if (isAtLevel && !isDue && members.all.size > openedMax) members.toLevel(member);
    else members.look(member);
  }

  // Takes up records as they are stored now; `beyond` brings cursors back, see `AccountStore.load`.
  async #refresh(ids: readonly string[], beyond: number | null = null): Promise<void> {
    const account = this.#account;
    const { fence, members, window, stored } = account;
    if (fence === null) return;
    const loaded = await this.#deps.store.load(account.name, fence, ids, beyond);
    if (loaded === null) {
      account.overtaken = 'fenced';
      return;
    }
    for (const [i, id] of ids.entries()) {
      const { [i]: record = null } = loaded;
      const member = members.all.get(id);
      if (record instanceof Error) {
        const broken = member ?? members.add(id, noRecord, 0);
        members.leaveLevel(broken, window.known().position);
        await this.#steps.leaveOut(broken, record);
      } else if (record === null) {
        if (member !== undefined) members.remove(member);
      } else if (member === undefined)
        this.#place(members.add(id, record, effectivePosition(record.delivery, stored.level)));
      else await this.#steps.follow(member, record);
    }
  }

  async #readLog(): Promise<void> {
    const account = this.#account;
    const { name, fence, members, window, version } = account;
    const { store } = this.#deps;
    if (fence === null) return;
    const wanted = window.hasRoom() ? entriesAtOnce : 0;
    const read = await store.read(name, fence, window.known(), version, wanted);
    this.#readAt = performance.now();
    if (typeof read === 'string') {
      account.overtaken = read;
      return;
    }
    window.headIs(read.head);
    if (read.version !== version) {
      const allIds = async () => [...new Set([...members.all.keys(), ...(await store.ids(name))])];
      await this.#refresh(read.changed ?? (await allIds()));
      ({ version: account.version } = read);
    }
    account.hasChanged = false;
    const found = wanted > 0 ? window.add(read.stretch) : null;
    if (found === null) return;
    members.wake(found, window.known().position);
    this.#lookMs = firstLookMs;
    this.#trim();
    // Room in the window is made before the next event needs it.
    if (!window.hasMore()) this.#leaveBehind(window.middle());
  }

  #trim(): void {
    const { members, window } = this.#account;
    let from = window.known().position;
    for (const { reads, queue, position } of members.own)
      if (!reads) from = Math.min(from, queue?.readTo() ?? position);
    window.trim(from);
  }

  // Slow subscriptions must not keep new events from the others. If many events wait for all of them, some
  // are ahead of others for a while.
  #giveWay(): void {
    const { window } = this.#account;
    const at = performance.now();
    if (!window.hasRoom()) this.#trim();
    const isFull = !window.hasRoom() && window.hasMore();
    this.#fullSince = isFull ? (this.#fullSince ?? at) : null;
    if (this.#fullSince === null || at - this.#fullSince < patienceMs) return;
    this.#fullSince = null;
    this.#leaveBehind(window.known().position);
  }

  // Subscriptions that have not come up to a position read by themselves, unless all are as slow.
  #leaveBehind(position: number): void {
    const { members } = this.#account;
    const slow = [...members.own].filter(
      (member) => !member.reads && (member.queue?.readTo() ?? member.position) < position,
    );
    if (slow.length === 0 || slow.length === members.all.size) return;
    for (const member of slow) member.reads = true;
    this.#trim();
  }

  #lookAtDue(): void {
    const { members, window } = this.#account;
    const at = this.#deps.now();
    // Times of a clock that was ahead are not waited for.
    const isBack = this.#wasAhead(this.#lookedAt);
    this.#lookedAt = at;
    for (const member of members.takeDue(at, isBack)) {
      if (isBack && member.queue !== null) members.touched.add(member);
      member.mayReplay = true;
      members.leaveLevel(member, window.known().position);
      members.look(member);
    }
  }

  // Those with something to send take turns, one attempt each.
  #lookAtSome(): void {
    const { members } = this.#account;
    let starts = 0;
    for (let looks = 0; looks < looksAtOnce && starts < startsAtOnce; looks += 1) {
      const member = members.next();
      if (member === null) return;
      if (members.all.get(member.id) !== member || member.isLevel) continue;
      if (!this.#steps.step(member)) continue;
      starts += 1;
      members.look(member);
    }
  }

  #mayRead(): boolean {
    if (this.#isReading) return false;
    const { mustRead, window } = this.#account;
    const mayGoOn = window.hasMore() && window.hasRoom();
    return mustRead || mayGoOn || performance.now() - this.#readAt >= this.#lookMs;
  }

  #startReading(): void {
    if (!this.#hasMoreToRead()) this.#lookMs = Math.min(2 * this.#lookMs, lookMsMax);
    this.#account.mustRead = false;
    this.#isReading = true;
    this.#account.tasks.begin(async () => {
      try {
        await this.#readLog();
      } finally {
        this.#isReading = false;
      }
    });
  }

  #maySettle(): boolean {
    const { overtaken, results, inFlight, firstResultAt, members, stored, window } = this.#account;
    if (this.#isSettling || overtaken !== null) return false;
    const at = performance.now();
    if (members.touched.size === 0)
      return window.known().position > stored.level && at - this.#settledAt >= holdMsMax;
    const isHalf = 2 * results >= inFlight || results >= attemptsAtOnce;
    return results === 0 || isHalf || at - firstResultAt >= gatherMs;
  }

  #startSettling(isLast: boolean): void {
    this.#isSettling = true;
    this.#settledAt = performance.now();
    this.#account.tasks.begin(async () => {
      try {
        const leaveOut = (member: Member, error: unknown) => this.#steps.leaveOut(member, error);
        await settle({ ...this.#deps, leaveOut }, this.#account, isLast);
      } finally {
        this.#isSettling = false;
      }
    });
  }

  #sleepMs(stops: boolean): number {
    const { members, results } = this.#account;
    const looksIn = Math.max(1, this.#lookMs - (performance.now() - this.#readAt));
    const dueIn = stops ? Infinity : Math.max(1, members.nextDue() - this.#deps.now());
    const gathersIn = results > 0 && !this.#isSettling ? gatherMs : Infinity;
    return Math.min(looksIn, dueIn, gathersIn, lookMsMax);
  }

  // A run that only waits for a rate ends if that takes long.
  #staysForRate(): boolean {
    const { members } = this.#account;
    const next = members.nextDue();
    if (next === Infinity || next - this.#deps.now() > stayMsMax) return false;
    for (const { notBefore } of members.waiting)
      if (notBefore?.at === next && notBefore.reason === 'rate') return true;
    return false;
  }

  #end(isAborted: boolean): RunResult {
    const { overtaken, members } = this.#account;
    this.#account.behind = null;
    if (overtaken !== null || isAborted) {
      this.#account.forget();
      // Another deliverer goes on from there.
      return { wakeAt: overtaken === 'fenced' ? null : this.#deps.now() };
    }
    const wakeAt = members.firstDue();
    return { wakeAt: Number.isFinite(wakeAt) ? wakeAt : null };
  }
}
