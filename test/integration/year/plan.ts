import { pick, shuffled, wholeNumber, type Random } from '../../../src/sandbox/random.ts';

export const dayMs = 86_400_000;

/** The rules of every account of the year: filings are due so many days after their effective date. */
export const dueDays: Readonly<Record<string, number>> = { TX: 60, '*': 45 };

/** A filing as it really is through the year. Times are milliseconds, Infinity = never. */
export interface Life {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly bornAt: number;
  readonly paidAt: number;
  readonly pendingAt: number;
  readonly rejectedAt: number;
  /** When the rejection is corrected in place, and is PENDING again. */
  readonly correctedAt: number;
  readonly completedAt: number;
  readonly dueAt: number;
  /** The filing that is resubmitted for it; null for none. */
  readonly answer: Life | null;
  /** When a person has seen it. */
  readonly seenAt: number;
}

interface Policy {
  readonly policyNumber: string;
  readonly stateAbbr: string;
  /** Midnight in UTC. */
  readonly effectiveAt: number;
}

type Fate = 'resubmitted' | 'corrected' | 'seen' | 'left';

// A tenth is rejected.
const decisions: readonly boolean[] = [true, ...Array<boolean>(9).fill(false)];
// Half of the rejections are resubmitted under new ids, a third is corrected in place, and the rest stays, half of
// it seen by a person.
const fates: readonly Fate[] = [
  ...Array<Fate>(6).fill('resubmitted'),
  ...Array<Fate>(4).fill('corrected'),
  ...(['seen', 'left'] as const),
];

/** What becomes of filings, in random order and in fixed shares. */
export interface Lots {
  readonly isRejected: () => boolean;
  readonly fate: () => Fate;
}

/** Lots of a year. */
export function dealLots(random: Random): Lots {
  const deal = <T>(deck: readonly T[]) => {
    let rest: T[] = [];
    return () => {
      if (rest.length === 0) rest = shuffled(random, deck);
      return rest.pop() as T;
    };
  };
  return { isRejected: deal(decisions), fate: deal(fates) };
}

// Days after which a person sees a rejection.
const seenDays = 4;

// Days of the year after which nothing is born any more, and none of the resubmitted filings is rejected.
const basesDays = 240;
const rejectionsDays = 280;

/**
 * The filings of an account in a year that begins at `from` (ms). `lookAlikes` further filings look nearly
 * like a rejection that stays, each in another way.
 */
export function planYear(
  random: Random,
  lots: Lots,
  from: number,
  filings: number,
  lookAlikes: number,
): Life[] {
  const lives: Life[] = [];
  const between = (low: number, high: number) => (low + random() * (high - low)) * dayMs;

  function add(policy: Policy, bornAt: number, more: Readonly<Record<string, unknown>> = {}): Life {
    const { policyNumber, stateAbbr, effectiveAt } = policy;
    const decidedAt = bornAt + between(1, 15);
    const dueAt = effectiveAt + (dueDays[stateAbbr] ?? dueDays['*'] ?? 0) * dayMs;
    // Soon enough to be reported before its due date.
    const isInTime = decidedAt < dueAt - 20 * dayMs && bornAt < from + rejectionsDays * dayMs;
    const isRejected = more['isLookAlike'] !== true && isInTime && lots.isRejected();
    const fate = isRejected ? lots.fate() : 'completed';
    const correctedAt = fate === 'corrected' ? decidedAt + between(1, 40) : Infinity;
    const id = `f${lives.length + 1}`;
    const life = {
      id,
      fields: {
        policyNumber,
        filingState: { id: stateAbbr, name: stateAbbr, stateAbbr },
        policyEffectiveDate: new Date(effectiveAt).toISOString(),
        createdAt: new Date(bornAt).toISOString(),
        ...more,
      },
      bornAt,
      paidAt: bornAt + (decidedAt - bornAt) / 3,
      pendingAt: bornAt + ((decidedAt - bornAt) * 2) / 3,
      rejectedAt: isRejected ? decidedAt : Infinity,
      correctedAt,
      completedAt: isRejected ? correctedAt + between(1, 5) : decidedAt,
      dueAt,
      answer: null as Life | null,
      seenAt: fate === 'seen' ? decidedAt + seenDays * dayMs : Infinity,
    };
    lives.push(life);
    if (fate === 'resubmitted')
      life.answer = add(
        { ...policy, policyNumber: respelled(random, policyNumber) },
        decidedAt + between(0.1, 40),
      );
    return life;
  }

  while (lives.length < filings) {
    const bornAt = from + between(1, basesDays);
    const effectiveAt = Math.floor(bornAt / dayMs) * dayMs - wholeNumber(random, 0, 10) * dayMs;
    const stateAbbr = pick(random, ['TX', 'NY', 'FL', 'CA']);
    add({ policyNumber: `SL-2037-${1_000_000 + lives.length}`, stateAbbr, effectiveAt }, bornAt);
  }
  const left = lives.filter(
    ({ rejectedAt, completedAt, answer }) =>
      isFinite(rejectedAt) && !isFinite(completedAt) && answer === null,
  );
  for (let i = 0; i < lookAlikes && left.length > 0; i += 1) {
    const { fields, bornAt, rejectedAt } = pick(random, left);
    const { policyNumber, filingState, policyEffectiveDate } = fields as {
      policyNumber: string;
      filingState: { stateAbbr: string };
      policyEffectiveDate: string;
    };
    const policy = {
      policyNumber,
      stateAbbr: filingState.stateAbbr,
      effectiveAt: Date.parse(policyEffectiveDate),
    };
    const [other, more] = pick<[Partial<Policy>, Readonly<Record<string, unknown>>]>(random, [
      [{ policyNumber: `${policyNumber}1` }, {}],
      [{ stateAbbr: 'WA' }, {}],
      [{}, { filingType: 'NEW_BUSINESS_RENEWAL' }],
      [{}, { endorsementNumber: '2' }],
      [{}, { createdAt: new Date(bornAt - dayMs).toISOString() }],
    ]);
    add({ ...policy, ...other }, rejectedAt + between(2, 10), { ...more, isLookAlike: true });
  }
  return lives;
}

function respelled(random: Random, policyNumber: string): string {
  return pick(random, [
    policyNumber,
    policyNumber.toLowerCase(),
    policyNumber.replaceAll('-', ' '),
    ` ${policyNumber.replaceAll('-', '')}`,
  ]);
}
