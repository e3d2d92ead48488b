import { setImmediate as othersFirst } from 'node:timers/promises';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { AccountStore, LoadedSubscription } from '../store/account-store.ts';
import type { Member } from './members.ts';
import { allIds, begin, createOpenAccount, forget, type OpenAccount } from './open-account.ts';
import { attemptsAtOnce, holdMsMax, isLeftOver, settle } from './settle.ts';
import { effectivePosition, follow, leaveOut, step, type StepDeps } from './steps.ts';

export interface DelivererDeps extends Omit<StepDeps, 'refresh' | 'store'> {
  readonly store: AccountStore;
}

/** How a run ended. */
export interface RunResult {
  /**
   * When the account is next due, in milliseconds on Redis's clock; null for not before something changes.
   */
  readonly wakeAt: number | null;
}

/** Delivers the events of one account to its subscriptions, in one process at a time. */
export interface Deliverer {
  /**
   * Delivers all that can be delivered now. Ends when nothing can be sent, when another deliverer has
   * begun, or when the signal aborts; callbacks in flight are finished first. The state of the account is
   * kept for the next run, and believed as long as no other deliverer has begun. Rejects when Redis fails,
   * as soon as nothing is in flight; the next run sends those events again under the same ids.
   */
  run(signal: AbortSignal): Promise<RunResult>;
  /** A running deliverer reads on: there may be new events or settings. False when it will not any more. */
  readOn(): boolean;
  /** Bytes that it keeps between two runs, roughly. */
  weight(): number;
}

// Maximum number of entries read at a time.
const entriesAtOnce = 100;
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

/** A deliverer that knows nothing of the account yet. */
export function createDeliverer(deps: DelivererDeps, name: string): Deliverer {
  const account = createOpenAccount(name);
  const run: Run = {
    deps: { ...deps, refresh: (_, id) => refresh(run, [id]) },
    account,
    isRunning: false,
    isReading: false,
    isSettling: false,
    readAt: 0,
    lookMs: firstLookMs,
    settledAt: 0,
    lookedAt: 0,
    fullSince: null,
  };

  return {
    async run(signal) {
      const onAbort = () => account.tasks.poke();
      signal.addEventListener('abort', onAbort);
      run.isRunning = true;
      try {
        const isOpen = await open(run);
        if (isOpen) await deliver(run, signal);
        run.isRunning = false;
        return isOpen ? end(run, signal.aborted) : { wakeAt: null };
      } catch (error) {
        run.isRunning = false;
        while (account.tasks.count() > 0) await account.tasks.sleep(lookMsMax);
        forget(account);
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    readOn() {
      if (!run.isRunning || account.overtaken !== null) return false;
      account.mustRead = true;
      // The proxy may be back.
      for (const member of account.members.all.values()) if (member.isHeld) account.members.dueAt(member, 0);
      account.tasks.poke();
      return true;
    },
    weight() {
      let bytes = account.window.bytes();
      for (const { settings, queue } of account.members.all.values())
        bytes += memberBytes + 2 * settings.length + (queue?.lanes() ?? 0) * laneBytes;
      return bytes;
    },
  };
}

/** One deliverer at work. */
interface Run {
  readonly deps: StepDeps & Pick<DelivererDeps, 'store'>;
  readonly account: OpenAccount;
  /** Whether what is to be read is read by this run: not from its last step on. */
  isRunning: boolean;
  isReading: boolean;
  isSettling: boolean;
  /** When the log was last read, and last written to, monotonic ms. */
  readAt: number;
  settledAt: number;
  /** Milliseconds until the next look. */
  lookMs: number;
  /** When due times were last compared, milliseconds on Redis's clock. */
  lookedAt: number;
  /** Since when the window has no room for new entries, monotonic ms; null while it has. */
  fullSince: number | null;
}

// The story: read what is new, look at those that are due or have something to do, write what has come
// back; until nothing can be done any more.
async function deliver(run: Run, signal: AbortSignal): Promise<void> {
  const { account } = run;
  const { members, tasks } = account;
  for (;;) {
    const stops = signal.aborted || account.overtaken !== null;
    const failure = tasks.failure();
    if (failure !== null) throw failure.error;
    if (!stops) {
      lookAtDue(run);
      giveWay(run);
      if (mayRead(run)) startReading(run);
      if (!account.hasChanged) lookAtSome(run);
    }
    if (maySettle(run)) startSettling(run, false);
    const isDone = stops || (!members.hasListed() && !hasMoreToRead(account));
    const hasToWrite = account.overtaken === null && members.touched.size > 0;
    if (isDone && tasks.count() === 0 && !hasToWrite) {
      const mayEnd = account.overtaken !== null || stops || !staysForRate(run);
      run.isRunning = !(mayEnd && isWritten(run));
      if (!run.isRunning) return;
      if (mayEnd) {
        startSettling(run, true);
        continue;
      }
    }
    // oxlint-disable no-await-in-loop
    if (members.hasListed() && !stops) await othersFirst();
    else await tasks.sleep(sleepMs(run, stops));
    // oxlint-enable no-await-in-loop
  }
}

// Whether nothing is to be written before the run ends, or can be.
function isWritten(run: Run): boolean {
  const { account, deps } = run;
  if (account.overtaken !== null) return true;
  return !isLeftOver(account, deps.now()) && !wasAhead(run, account.stored.at);
}

const wasAhead = ({ deps }: Run, at: number): boolean => aheadMsOf(at, deps.now()) > 0;

const hasMoreToRead = ({ mustRead, window }: OpenAccount): boolean =>
  mustRead || window.head().position > window.known().position;

/** Opens the account, or goes on with what is known of it; false where there is nothing to deliver to. */
async function open(run: Run): Promise<boolean> {
  const { account, deps } = run;
  const { members, window, tasks } = account;
  tasks.reset();
  Object.assign(account, { overtaken: null, mustRead: false, hasChanged: false });
  run.settledAt = performance.now();
  if (account.fence !== null) {
    await readLog(run);
    if (account.overtaken === null) {
      for (const member of members.all.values()) if (member.isHeld) release(account, member);
      for (const member of members.own) members.look(member);
      return true;
    }
    forget(account);
  }
  const opened = await deps.store.open(account.name);
  if (opened === null) return false;
  begin(account, opened);
  const { level, ids, isBroughtBack } = opened;
  const loaded = await deps.store.load(
    account.name,
    opened.fence,
    ids,
    isBroughtBack ? level.position : null,
  );
  if (loaded === null) {
    forget(account);
    return false;
  }
  const found: Member[] = [];
  for (const [i, id] of ids.entries()) {
    const { [i]: record = null } = loaded;
    if (record instanceof Error) await leaveOut(deps, account, members.add(id, noRecord, 0), record);
    else if (record !== null)
      found.push(members.add(id, record, effectivePosition(record.delivery, level.position)));
  }
  // Where all are further than the level, nothing before them is read again.
  const positions = found.filter(({ lags }) => !lags).map(({ position }) => position);
  const first = positions.reduce((a, b) => Math.min(a, b), opened.head.position);
  if (first > level.position) window.beginAt({ position: first, timeline: '' });
  for (const member of found) {
    member.reads = member.position < window.known().position;
    place(account, member);
  }
  account.mustRead = true;
  return true;
}

// The proxy may be back.
function release({ members, window }: OpenAccount, member: Member): void {
  members.dueAt(member, null);
  member.isBarred = false;
  members.leaveLevel(member, window.known().position);
}

// At the level if nothing has to be done for it now. Where there are few, each is opened once, so that
// settings which cannot be used show before an event comes.
function place({ members, window }: OpenAccount, member: Member): void {
  const { delivery, position } = member;
  const { parked, replaying, release: isReleased, blocked, done, enabled, lags } = delivery;
  const isAtLevel = position >= window.known().position && !lags && done === '';
  const isWaiting = enabled && (parked > 0 || replaying > 0 || isReleased || blocked !== null);
  if (isAtLevel && !isWaiting && members.all.size > openedMax) members.toLevel(member);
  else members.look(member);
}

async function refresh({ deps, account }: Run, ids: readonly string[]): Promise<void> {
  const { fence, members, window, stored } = account;
  if (fence === null) return;
  const loaded = await deps.store.load(account.name, fence, ids, null);
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
      await leaveOut(deps, account, broken, record);
    } else if (record === null) {
      if (member !== undefined) members.remove(member);
    } else if (member === undefined)
      place(account, members.add(id, record, effectivePosition(record.delivery, stored.level)));
    else await follow(deps, account, member, record);
  }
}

async function readLog(run: Run): Promise<void> {
  const { deps, account } = run;
  const { fence, members, window, version } = account;
  if (fence === null) return;
  const wanted = window.hasRoom() ? entriesAtOnce : 0;
  const read = await deps.store.read(account.name, fence, window.known(), version, wanted);
  run.readAt = performance.now();
  if (typeof read === 'string') {
    account.overtaken = read;
    return;
  }
  window.headIs(read.head);
  if (read.version !== version) {
    await refresh(run, read.changed ?? (await allIds(account, deps.store)));
    ({ version: account.version } = read);
  }
  account.hasChanged = false;
  const found = wanted > 0 ? window.add(read.stretch) : null;
  if (found === null) return;
  members.wake(found.entries, found.hasGap, found.former, window.known().position);
  run.lookMs = firstLookMs;
  trim(account);
}

function trim({ members, window }: OpenAccount): void {
  let from = window.known().position;
  for (const { reads, queue, position } of members.own)
    if (!reads) from = Math.min(from, queue?.readTo() ?? position);
  window.trim(from);
}

// Slow subscriptions must not keep the others from getting what is new.
function giveWay(run: Run): void {
  const { members, window } = run.account;
  const known = window.known().position;
  const at = performance.now();
  if (!window.hasRoom()) trim(run.account);
  const isFull = !window.hasRoom() && window.head().position > known;
  run.fullSince = isFull ? (run.fullSince ?? at) : null;
  if (run.fullSince === null || at - run.fullSince < patienceMs) return;
  run.fullSince = null;
  const slow = [...members.own].filter(
    ({ reads, queue, position }) => !reads && (queue?.readTo() ?? position) < known,
  );
  if (slow.length === members.all.size) return;
  for (const member of slow) member.reads = true;
  trim(run.account);
}

function lookAtDue(run: Run): void {
  const { members, window } = run.account;
  const at = run.deps.now();
  // Times of a clock that was ahead are not waited for.
  const isBack = wasAhead(run, run.lookedAt);
  run.lookedAt = at;
  for (const member of members.takeDue(at, isBack)) {
    if (isBack && member.queue !== null) members.touched.add(member);
    member.isBarred = false;
    member.mayReplay = true;
    members.leaveLevel(member, window.known().position);
    members.look(member);
  }
}

// Those with something to send take turns, one attempt each.
function lookAtSome({ deps, account }: Run): void {
  const { members } = account;
  let starts = 0;
  for (let looks = 0; looks < looksAtOnce && starts < startsAtOnce; looks += 1) {
    const member = members.next();
    if (member === null) return;
    if (members.all.get(member.id) !== member || member.isLevel) continue;
    if (!step(deps, account, member)) continue;
    starts += 1;
    members.look(member);
  }
}

function mayRead({ isReading, account, lookMs, readAt }: Run): boolean {
  if (isReading) return false;
  const { window } = account;
  const mayGoOn = window.head().position > window.known().position && window.hasRoom();
  return account.mustRead || mayGoOn || performance.now() - readAt >= lookMs;
}

function startReading(run: Run): void {
  const { account } = run;
  if (!hasMoreToRead(account)) run.lookMs = Math.min(2 * run.lookMs, lookMsMax);
  account.mustRead = false;
  run.isReading = true;
  account.tasks.begin(async () => {
    try {
      await readLog(run);
    } finally {
      run.isReading = false;
    }
  });
}

function maySettle({ isSettling, account, settledAt }: Run): boolean {
  if (isSettling || account.overtaken !== null) return false;
  const { results, inFlight, firstResultAt, members, stored, window } = account;
  const at = performance.now();
  if (members.touched.size === 0)
    return window.known().position > stored.level && at - settledAt >= holdMsMax;
  const isHalf = 2 * results >= inFlight || results >= attemptsAtOnce;
  return results === 0 || isHalf || at - firstResultAt >= gatherMs;
}

function startSettling(run: Run, isLast: boolean): void {
  const { deps, account } = run;
  run.isSettling = true;
  run.settledAt = performance.now();
  account.tasks.begin(async () => {
    try {
      const leaves = (member: Member, error: unknown) => leaveOut(deps, account, member, error);
      await settle({ ...deps, leaveOut: leaves }, account, isLast);
    } finally {
      run.isSettling = false;
    }
  });
}

function sleepMs({ lookMs, readAt, isSettling, account, deps }: Run, stops: boolean): number {
  const looksIn = Math.max(1, lookMs - (performance.now() - readAt));
  const dueIn = stops ? Infinity : Math.max(1, account.members.nextDue() - deps.now());
  const gathersIn = account.results > 0 && !isSettling ? gatherMs : Infinity;
  return Math.min(looksIn, dueIn, gathersIn, lookMsMax);
}

// A run that only waits for a rate ends if that takes long.
function staysForRate({ account, deps }: Run): boolean {
  const { members } = account;
  const next = members.nextDue();
  if (next === Infinity || next - deps.now() > stayMsMax) return false;
  for (const [{ queue }, at] of members.due)
    if (at === next && queue?.notBefore()?.reason === 'rate') return true;
  return false;
}

function end({ account, deps }: Run, isAborted: boolean): RunResult {
  const { overtaken, members } = account;
  account.behind = null;
  if (overtaken !== null || isAborted) {
    forget(account);
    // Another deliverer goes on from there.
    return { wakeAt: overtaken === 'fenced' ? null : deps.now() };
  }
  let wakeAt = Infinity;
  for (const at of members.due.values()) wakeAt = Math.min(wakeAt, at);
  return { wakeAt: Number.isFinite(wakeAt) ? wakeAt : null };
}

// What is known of a subscription whose record cannot be read.
const noRecord: LoadedSubscription = { settings: '', delivery: parseDeliveryState({}) };
