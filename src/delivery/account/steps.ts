import { toUnreadable, type ReportStanding } from '../../redis/unreadable-record.ts';
import { judgeInTurns } from '../../subscriptions/content-filter/selection.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { Block, DeliveryState } from '../../subscriptions/subscription.ts';
import type { AccountShares } from '../account-shares.ts';
import { blockAfter, UnusableSettingsError, UnverifiedError } from '../blocked/block-policy.ts';
import type { BlockStore } from '../blocked/block-store.ts';
import type { EndExpired } from '../expiry.ts';
import type { HeldSubscriptions } from '../held.ts';
import type { Verifier } from '../ownership.ts';
import { pauseAt } from '../schedule/endpoint-health.ts';
import { aheadMsOf } from '../schedule/stepped-clock.ts';
import type { AccountStore } from '../store/account-store.ts';
import { positionOf, type Member } from './members.ts';
import type { Behind, OpenAccount } from './open-account.ts';
import { SubscriptionQueue, type QueueDeps, type QueueStart, type ReadySubscription } from './queue.ts';

export interface StepDeps extends QueueDeps {
  readonly store: Pick<AccountStore, 'waiting' | 'read'>;
  readonly shares: AccountShares;
  readonly blocks: BlockStore;
  readonly verifier: Pick<Verifier, 'whenDue'>;
  readonly endExpired: EndExpired;
  /** When to look again at a subscription whose callbacks have to wait for the proxy; null if not. */
  readonly heldUntil: HeldSubscriptions['heldUntil'];
  /**
   * Opens a subscription from its settings as stored. Throws UnusableSettingsError and UnverifiedError.
   */
  readonly open: (account: string, id: string, settings: string) => ReadySubscription;
  /** Called when a record cannot be read without which nothing is sent to a subscription. */
  readonly reportStanding: ReportStanding;
  /** Called after unusable settings have blocked a subscription. */
  readonly onBlocked: (account: string, id: string, block: Block) => void;
  /** Reads the record of a subscription anew. */
  readonly refresh: (account: OpenAccount, id: string) => Promise<void>;
}

// Number of entries that a subscription reads by itself at a time.
const entriesAtOnce = 100;
// Milliseconds until a record that cannot be read is read again, until an expired subscription is looked at
// again that could not be ended, and until one is that has found no place for its callbacks.
const brokenMs = 5_000;
const unendedMs = 60_000;
const starvedMs = 50;

/** Reads and starts for one member, whatever it needs first; true when an attempt was started. */
export function step(deps: StepDeps, account: OpenAccount, member: Member): boolean {
  if (member.isBusy) return false;
  const { queue } = member;
  if (queue === null) {
    openQueue(deps, account, member);
    return false;
  }
  const { touched } = account.members;
  const isIdle = queue.inFlight() === 0;
  const mustClose = member.isStale || queue.isExpired();
  const heldUntil = isIdle ? deps.heldUntil(account.name, queue.subscription().url) : null;
  member.isHeld = heldUntil !== null;
  if ((mustClose || heldUntil !== null) && queue.isDirty() && isIdle) {
    touched.add(member);
    return false;
  }
  if (mustClose) {
    if (isIdle) reopen(deps, account, member, queue);
    return false;
  }
  if (heldUntil !== null) {
    sleep(account, member, heldUntil);
    return false;
  }
  read(deps, account, member, queue);
  // Together with the next result where one is to come, and with what is being read.
  if (queue.isDirty() && isIdle && !member.isBusy) touched.add(member);
  const waitsForRead = member.isBusy && !queue.fillsPlaces();
  if (!waitsForRead) {
    if (isStarved(deps, account, member, queue)) return false;
    if (start(deps, account, member, queue)) return true;
  }
  if (!member.isBusy && queue.inFlight() === 0 && !touched.has(member)) rest(account, member, queue);
  return false;
}

/**
 * One that cannot be read stands still, and the level with it; the others go on. Rejects with other errors.
 */
export async function leaveOut(
  deps: StepDeps,
  account: OpenAccount,
  member: Member,
  error: unknown,
): Promise<void> {
  const { name, members } = account;
  const unreadable = await deps.reportStanding(name, error);
  if (unreadable === null) throw error;
  member.queue?.close();
  member.queue = null;
  member.isBroken = true;
  members.touched.delete(member);
  try {
    const settings = await deps.blocks.settings(name, member.id);
    if (settings !== null)
      await holdBack(deps, account, member, new UnusableSettingsError(settings, unreadable));
  } catch (failed) {
    if (toUnreadable(failed) === null) throw failed;
  }
  members.dueAt(member, Math.max(members.due.get(member) ?? 0, deps.now() + brokenMs));
}

/** Takes up settings and state as they are stored now; `level` is that of the account as stored. */
export async function follow(
  deps: StepDeps,
  account: OpenAccount,
  member: Member,
  { settings, delivery }: { readonly settings: string; readonly delivery: DeliveryState },
): Promise<void> {
  const { name, members, window, stored } = account;
  if (member.isBroken) {
    member.isBroken = false;
    member.position = effectivePosition(delivery, stored.level);
  }
  members.settingsAre(member, settings);
  member.delivery = delivery;
  members.dueAt(member, null);
  member.isBarred = false;
  if (member.queue !== null) {
    const waiting = delivery.replaying > 0 ? await deps.store.waiting(name, member.id) : null;
    try {
      const ready = deps.open(name, member.id, settings);
      member.queue.follow({ ready, delivery, replays: waiting?.replays ?? [] });
      member.isStale = false;
    } catch (error) {
      if (!(error instanceof UnusableSettingsError) && !(error instanceof UnverifiedError)) throw error;
      member.isStale = true;
    }
    if (member.queue.isDirty()) members.touched.add(member);
  }
  members.leaveLevel(member, window.known().position);
  members.look(member);
}

/** The position up to which every event is done, by what is stored of a subscription and of its account. */
export function effectivePosition({ lags, cursor }: DeliveryState, level: number): number {
  return lags ? cursor : Math.max(cursor, level);
}

function openQueue(deps: StepDeps, account: OpenAccount, member: Member): void {
  const { id, settings, delivery } = member;
  if (member.isBarred) return;
  if (!delivery.enabled) return sleep(account, member, null);
  if (member.isBroken) return whileBusy(deps, account, member, () => deps.refresh(account, id));
  let ready: ReadySubscription;
  try {
    ready = deps.open(account.name, id, settings);
  } catch (error) {
    if (error instanceof UnverifiedError) return ask(deps, account, member, error);
    if (!(error instanceof UnusableSettingsError)) throw error;
    return thenSleep(deps, account, member, () => holdBack(deps, account, member, error));
  }
  if (isExpired(ready.subscription, deps.now())) return endExpired(deps, account, member);
  const heldUntil = deps.heldUntil(account.name, ready.subscription.url);
  member.isHeld = heldUntil !== null;
  if (heldUntil !== null) return sleep(account, member, heldUntil);
  if (rests(account, member, deps.now())) return;
  if (delivery.parked === 0 && delivery.replaying === 0 && delivery.blocked === null)
    return begin(deps, account, member, { ready, lanes: new Map(), replays: [] });
  whileBusy(deps, account, member, async () => {
    const waiting = await deps.store.waiting(account.name, id);
    if (delivery.blocked !== null && (await deps.blocks.set(account.name, id, settings, null)))
      member.delivery = { ...member.delivery, blocked: null };
    begin(deps, account, member, { ready, ...waiting });
  });
}

// Lets it sleep where it is paused or waits for a retry alone.
function rests(account: OpenAccount, member: Member, at: number): boolean {
  const { delivery, position, lags } = member;
  if (delivery.release || aheadMsOf(delivery.settledAt, at) > 0) return false;
  if (pauseAt(delivery, at) === 'pausing') {
    sleep(account, member, delivery.pausedUntil);
    return true;
  }
  const waitsForRetry = delivery.replaying === 0 && delivery.parked > 0 && delivery.nextAttemptAt > at;
  const isAtLevel = position >= account.window.known().position && delivery.done === '' && !lags;
  if (!waitsForRetry || !isAtLevel) return false;
  sleep(account, member, delivery.nextAttemptAt, false);
  return true;
}

function begin(
  deps: StepDeps,
  { name, members }: OpenAccount,
  member: Member,
  found: Pick<QueueStart, 'ready' | 'lanes' | 'replays'>,
): void {
  const { id, delivery, position } = member;
  member.queue = new SubscriptionQueue(deps, { account: name, id, delivery, position, ...found });
  member.isStale = false;
  members.dueAt(member, null);
  members.look(member);
}

function reopen(deps: StepDeps, account: OpenAccount, member: Member, queue: SubscriptionQueue): void {
  member.position = queue.position();
  member.delivery = { ...member.delivery, ...queue.close() };
  member.queue = null;
  member.isStale = false;
  openQueue(deps, account, member);
}

// Nothing is done for it before a time, or, with null, before something changes.
function sleep(account: OpenAccount, member: Member, at: number | null, isBarred = true): void {
  const { members, window } = account;
  members.dueAt(member, at);
  member.isBarred = isBarred && at !== null;
  const isAtLevel = positionOf(member) >= window.known().position && !member.lags && !member.isBroken;
  if (isAtLevel) members.toLevel(member);
  // Events that it misses are not kept in memory for it.
  else member.reads = true;
}

// Work for a member; nothing else is done for it before that has ended.
function busy(
  deps: StepDeps,
  account: OpenAccount,
  member: Member,
  work: () => Promise<void>,
  end: () => void,
) {
  member.isBusy = true;
  account.tasks.begin(async () => {
    try {
      await work();
    } catch (error) {
      await leaveOut(deps, account, member, error);
    } finally {
      member.isBusy = false;
    }
    end();
  });
}

function whileBusy(deps: StepDeps, account: OpenAccount, member: Member, work: () => Promise<void>): void {
  busy(deps, account, member, work, () => account.members.look(member));
}

function thenSleep(deps: StepDeps, account: OpenAccount, member: Member, work: () => Promise<void>): void {
  const { members } = account;
  busy(deps, account, member, work, () => {
    const isThere = members.all.get(member.id) === member;
    if (isThere && !member.isLevel) sleep(account, member, members.due.get(member) ?? null);
  });
}

async function holdBack(
  deps: StepDeps,
  account: OpenAccount,
  member: Member,
  { settings, message }: UnusableSettingsError,
): Promise<void> {
  const { name, members } = account;
  const block = blockAfter(await deps.blocks.read(name, member.id), message, deps.now(), deps.random);
  if (await deps.blocks.set(name, member.id, settings, block)) {
    member.delivery = { ...member.delivery, blocked: block };
    deps.onBlocked(name, member.id, block);
    return members.dueAt(member, block.nextAt);
  }
  // The settings have changed meanwhile. Bytes that are not text never equal the text that was read.
  if (settings.includes('\uFFFD')) return members.dueAt(member, block.nextAt);
  account.mustRead = true;
}

function ask(
  deps: StepDeps,
  account: OpenAccount,
  member: Member,
  { settings, subscription }: UnverifiedError,
): void {
  thenSleep(deps, account, member, async () => {
    const at = await deps.verifier.whenDue(settings, subscription);
    // Due at once means that its settings have changed: they are read first, or it would be asked again.
    const isUnread = at !== null && at <= deps.now() && member.settings === settings;
    account.members.dueAt(member, isUnread ? deps.now() + brokenMs : at);
    account.mustRead = true;
  });
}

function endExpired(deps: StepDeps, account: OpenAccount, member: Member): void {
  thenSleep(deps, account, member, async () => {
    if (await deps.endExpired(account.name, member.id)) return account.members.remove(member);
    account.members.dueAt(member, deps.now() + unendedMs);
    account.mustRead = true;
  });
}

function read(deps: StepDeps, account: OpenAccount, member: Member, queue: SubscriptionQueue): void {
  const { window, members } = account;
  const known = window.known().position;
  if (queue.readTo() < known && queue.hasRoom()) {
    if (queue.readTo() < window.from()) return readAlone(deps, account, member, queue);
    const entries = window.behind(queue.readTo());
    const { filter = null } = queue.subscription();
    if (filter === null) queue.take({ entries, upTo: known });
    else
      return whileBusy(deps, account, member, async () => {
        await judgeInTurns(deps.judge, queue.subscription(), entries);
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
  whileBusy(deps, account, member, async () => {
    member.mayReplay = await queue.readReplay();
  });
}

// One that is far behind reads the log from its own place.
function readAlone(deps: StepDeps, account: OpenAccount, member: Member, queue: SubscriptionQueue): void {
  whileBusy(deps, account, member, async () => {
    const known = account.window.known().position;
    const found = await readBehind(deps, account, queue.readTo());
    if (typeof found === 'string') {
      account.overtaken = found;
      return;
    }
    const { entries, lost = [], more } = found.stretch;
    await judgeInTurns(deps.judge, queue.subscription(), entries);
    const all = [...entries, ...lost].toSorted((a, b) => a.position - b.position);
    const before = all.filter(({ position }) => position <= known);
    const isAll = !more || before.length < all.length;
    queue.take({ entries: before, upTo: isAll ? known : (all.at(-1)?.position ?? 0) });
  });
}

// Subscriptions that are equally far behind share the last read.
function readBehind({ store }: StepDeps, account: OpenAccount, after: number): Behind['reading'] {
  const { name, fence, window, version, behind } = account;
  const known = window.known();
  if (fence === null) return Promise.resolve('fenced');
  if (behind?.after === after && behind.known === known.position) return behind.reading;
  const reading = store.read(name, fence, known, version, entriesAtOnce, after);
  account.behind = { after, known: known.position, reading };
  return reading;
}

// Whether it has an attempt to start and no place for it; it is looked at again soon then.
function isStarved(
  { shares, now }: StepDeps,
  { name, members }: OpenAccount,
  member: Member,
  queue: SubscriptionQueue,
): boolean {
  if (shares.mayTake(name) || !queue.mayStart()) return false;
  members.dueAt(member, now() + starvedMs);
  return true;
}

function start(
  { shares }: StepDeps,
  account: OpenAccount,
  member: Member,
  queue: SubscriptionQueue,
): boolean {
  const sending = queue.start();
  if (sending === null) return false;
  const { name, members, tasks } = account;
  const end = tasks.started();
  account.inFlight += 1;
  shares.take(name);
  const ended = (failure?: { readonly error: unknown }): void => {
    account.inFlight -= 1;
    shares.give(name);
    end(failure);
  };
  sending.then(
    (result) => {
      if (account.results === 0) account.firstResultAt = performance.now();
      account.results += 1;
      member.results.push(result);
      members.touched.add(member);
      ended();
    },
    (error: unknown) => ended({ error }),
  );
  return true;
}

// Nothing can be done for it now.
function rest({ members, window }: OpenAccount, member: Member, queue: SubscriptionQueue): void {
  const known = window.known().position;
  members.dueAt(member, queue.notBefore()?.at ?? null);
  if (queue.readTo() < known) member.reads = true;
  else if (queue.position() < known) return;
  else if (member.lags) members.touched.add(member);
  else members.toLevel(member);
}
