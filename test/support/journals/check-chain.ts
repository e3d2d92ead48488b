import type { PartnerState } from './journals.ts';

/** A callback's event with how it came. */
export interface TapedEvent {
  readonly subscription: string;
  readonly id: string;
  readonly type: string;
  readonly account: string;
  readonly filingId: string;
  readonly status: string;
  readonly previousStatus: string | null;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
  readonly sequence: number;
  readonly arrivedAt: number;
  readonly answeredAt: number | null;
  readonly httpStatus: number;
}

/** A state as a text that equal states share; `removed` for none. */
export function stateKey(state: PartnerState): string {
  if (state === null) return 'removed';
  const { status, completedAt, rejectionReason } = state;
  return JSON.stringify([status, completedAt ?? null, rejectionReason ?? null]);
}

/**
 * The rules for one filing at one subscriber, events in the order of arrival; pure: sequences from 1 without
 * a gap, one id per sequence, `previousStatus` the status of the event before, none sent for the first time
 * before the former was acknowledged. `baseline` is the status in which the filing was taken in silently,
 * null when it came later.
 */
export function checkChain(where: string, baseline: string | null, events: readonly TapedEvent[]): string[] {
  const firsts = new Map<number, TapedEvent>();
  const violations: string[] = [];
  for (const event of events) {
    const first = firsts.get(event.sequence) ?? event;
    firsts.set(event.sequence, first);
    if (first.id !== event.id)
      violations.push(`id: ${where}: ${event.sequence} is ${first.id} and ${event.id}`);
  }
  const chain = [...firsts.values()].toSorted((a, b) => a.sequence - b.sequence);
  for (const [i, event] of chain.entries()) {
    const former = chain[i - 1];
    const before = former === undefined ? baseline : former.status;
    const expected = (former?.sequence ?? 0) + 1;
    if (event.sequence !== expected)
      violations.push(`gap: ${where}: ${event.sequence} stands where ${expected} is due`);
    if (event.previousStatus !== before)
      violations.push(`chain: ${where}: ${event.sequence} comes from ${event.previousStatus}, was ${before}`);
    if (former !== undefined && event.arrivedAt < acknowledgedAt(events, former.sequence))
      violations.push(`order: ${where}: ${event.sequence} came before ${former.sequence} was acknowledged`);
  }
  return violations;
}

function acknowledgedAt(events: readonly TapedEvent[], sequence: number): number {
  const answers = events
    .filter((event) => event.sequence === sequence && event.httpStatus >= 200 && event.httpStatus < 300)
    .map(({ answeredAt }) => answeredAt ?? Infinity);
  return Math.min(Infinity, ...answers);
}
