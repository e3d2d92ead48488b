import type { AccountStore, Settled } from '../store/account-store.ts';
import { positionOf, type Member } from './members.ts';
import type { OpenAccount } from './open-account.ts';
import type { PendingSettle } from './queue.ts';
import type { SubscriptionSettlement } from '../store/settlement-text.ts';

export interface SettleDeps {
  readonly store: Pick<AccountStore, 'settle'>;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  /** Leaves a subscription out whose part could not be written. */
  readonly leaveOut: (member: Member, error: unknown) => Promise<void>;
}

/** Milliseconds after which a subscription that holds the level is stored as one that lags. */
export const holdMsMax = 1_000;
// Milliseconds between two looks at all members that may hold the level, if there are many.
const lookMs = 100;
// Maximum number of subscriptions, and of attempts, of one settle: a few milliseconds of Redis.
const settledAtOnce = 100;
/** Maximum number of attempts of one settle. */
export const attemptsAtOnce = 250;

/** The parts of one settle, and which of their subscriptions lag from then on. */
interface Chosen {
  readonly parts: ReadonlyMap<Member, PendingSettle | null>;
  readonly lagsOf: (member: Member) => boolean;
}

/**
 * Writes the results of some subscriptions, and how far all others are. `isLast` marks all that are behind
 * as lagging, so that the next run continues from this one.
 */
export async function settle(deps: SettleDeps, account: OpenAccount, isLast: boolean): Promise<void> {
  const { fence, window, version, members } = account;
  if (fence === null) return;
  const at = deps.now();
  const chosen = choose(account, isLast);
  const lags = new Map([...chosen.parts.keys()].map((member) => [member, chosen.lagsOf(member)]));
  const subscriptions = [...chosen.parts].map(([member, pending]) => ({
    ...(pending?.settlement ?? standing(member)),
    lags: lags.get(member) === member.lags ? null : (lags.get(member) ?? null),
  }));
  const nextAt = nextAtOf(account, at, chosen);
  const written = { level: levelOf(account, chosen.lagsOf), nextAt, version, at };
  const settlement = { known: window.known(), ...written, subscriptions };
  const result = await deps.store.settle(account.name, fence, settlement, at);
  if (typeof result === 'string') {
    account.overtaken = result;
    return;
  }
  const { results, head } = result;
  account.fence = { ...fence, settles: fence.settles + 1 };
  const hasFailed = results.some((each) => each instanceof Error);
  account.stored = hasFailed ? { ...written, level: account.stored.level } : written;
  window.headIs(head);
  account.hasChanged ||= result.version !== version;
  account.mustRead ||= account.hasChanged;
  for (const [i, [member, pending]] of [...chosen.parts].entries()) {
    const { [i]: settled = 'gone' } = results;
    if (settled instanceof Error) await deps.leaveOut(member, settled);
    else if (settled === 'gone') members.remove(member);
    else end(account, member, pending, lags.get(member) ?? false, settled);
  }
}

/** Whether anything is to be written before the run ends: the next poll would find the account due. */
export function isLeftOver(account: OpenAccount, now: number): boolean {
  const { stored, members, window, version } = account;
  const known = window.known().position;
  let isBroken = false;
  let holds = false;
  for (const member of members.own) {
    isBroken ||= member.isBroken;
    holds ||= !member.isBroken && !member.lags && positionOf(member) < known;
  }
  if (!isBroken && (holds || stored.level < known)) return true;
  return (
    stored.nextAt !== nextAtOf(account, now, { parts: new Map(), lagsOf: ({ lags }) => lags }) ||
    stored.version !== version
  );
}

// Those with results, and those that are behind and hold the level for too long.
function choose(account: OpenAccount, isLast: boolean): Chosen {
  const { members, window } = account;
  const known = window.known().position;
  const monotonic = performance.now();
  const parts = new Map<Member, PendingSettle | null>();
  let attempts = 0;

  const isBehind = (member: Member) => positionOf(member) < known;
  const mustLag = ({ lags, reads, holdsSince }: Member) =>
    lags || reads || isLast || (holdsSince !== null && monotonic - holdsSince >= holdMsMax);

  function add(member: Member): void {
    const { queue, results } = member;
    members.touched.delete(member);
    member.results = [];
    attempts += results.length;
    account.results -= results.length;
    // Its position is not known: what was sent of it is sent again.
    if (member.isBroken) return;
    parts.set(member, queue?.settle(results) ?? null);
    if (queue !== null) members.waits(member, queue.notBefore());
  }

  for (const member of members.touched) {
    if (parts.size >= settledAtOnce || attempts >= attemptsAtOnce) break;
    add(member);
  }
  if (account.results > 0) account.firstResultAt = monotonic;
  const looks = isLast || members.own.size <= settledAtOnce || monotonic - account.lookedAt >= lookMs;
  if (looks) account.lookedAt = monotonic;
  for (const member of looks ? members.own : []) {
    member.holdsSince = isBehind(member) ? (member.holdsSince ?? monotonic) : null;
    const isUnmarked = isBehind(member) && mustLag(member) && !member.lags && !member.isBroken;
    if (isUnmarked && !parts.has(member) && parts.size < settledAtOnce) add(member);
  }
  return {
    parts,
    lagsOf: (member) => (parts.has(member) ? isBehind(member) && mustLag(member) : member.lags),
  };
}

// Every event up to here is done and written for each that does not lag.
function levelOf({ members, window, stored }: OpenAccount, lagsOf: Chosen['lagsOf']): number {
  let level = window.known().position;
  for (const member of members.own) {
    // What is not written yet came after it.
    if (level <= stored.level) break;
    if (member.isBroken) level = Math.min(level, stored.level);
    else if (!lagsOf(member)) level = Math.min(level, member.queue?.writtenTo() ?? member.position);
  }
  return Math.max(level, stored.level);
}

// When the account is due by what is stored, if this process ends now.
function nextAtOf({ members }: OpenAccount, at: number, { parts, lagsOf }: Chosen): number | null {
  let next = members.firstDue();
  for (const some of [members.lagging, parts.keys()])
    for (const member of some) {
      if (next <= at) return next;
      const { queue, isBusy, isListed } = member;
      const isAtWork = isBusy || isListed || members.touched.has(member) || (queue?.inFlight() ?? 0) > 0;
      if (isAtWork && lagsOf(member)) next = at;
    }
  return Number.isFinite(next) ? next : null;
}

// The settlement of a member without a queue: its progress alone.
function standing({ id, position, delivery: { done, endpointVersion } }: Member): SubscriptionSettlement {
  return {
    id,
    endpointVersion,
    lags: null,
    progress: { cursor: position, ...(done === '' ? {} : { done }) },
    endpoint: {},
    lanes: new Map(),
    attempts: [],
    deadLetters: [],
    recovered: [],
    replay: null,
    announced: null,
    disabling: null,
    enabling: null,
  };
}

function end(
  { members }: OpenAccount,
  member: Member,
  pending: PendingSettle | null,
  lags: boolean,
  settled: Exclude<Settled, Error | 'gone'>,
): void {
  members.lagsNow(member, lags);
  member.mayReplay = true;
  pending?.written(settled);
  members.look(member);
}
