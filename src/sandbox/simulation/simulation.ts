import { Type, type Static } from 'typebox';
import { type Accounts, statesOf } from '../accounts.ts';
import { type Filing, type StatusChange, withStatus } from '../filings/filing.ts';
import { type FilingStore, type FilingView } from '../filings/filing-store.ts';
import { createRandom, sampleIndexes, wholeNumber, type Random } from '../random.ts';
import { sampleFiling, sampleRejectionReason, unusedId } from './sample-filings.ts';

const Rate = Type.Number({ minimum: 0, maximum: 1 });

/** The body of `PUT /_sandbox/simulation`; omitted fields get their defaults. */
export const SimulationBody = Type.Object(
  {
    enabled: Type.Boolean(),
    intervalMs: Type.Optional(Type.Integer({ minimum: 10, maximum: 3_600_000 })),
    changesPerTick: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    createRate: Type.Optional(Rate),
    rejectRate: Type.Optional(Rate),
    reopenRate: Type.Optional(Rate),
    filingsMax: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    owner: Type.Optional(Type.String({ minLength: 1 })),
    seed: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
);

/** A simulation as it is asked for; `seed` makes its course repeatable. */
type SimulationRequest = Static<typeof SimulationBody>;

/**
 * Settings of the course of filings. Each tick moves up to `changesPerTick` unsettled filings one step,
 * reopens a completed one with probability `reopenRate` and creates one with probability `createRate` while
 * there are fewer than `filingsMax`. `rejectRate` is the share of filings that end REJECTED.
 */
type SimulationSettings = Required<Omit<SimulationRequest, 'enabled' | 'owner' | 'seed'>>;

export const defaultSimulation: SimulationSettings = {
  intervalMs: 1_000,
  changesPerTick: 1,
  createRate: 0.3,
  rejectRate: 0.15,
  reopenRate: 0.05,
  filingsMax: 10_000,
};

/** One step of a tick. */
type SimulationStep =
  | { readonly kind: 'create' }
  | { readonly kind: 'change'; readonly filing: Filing; readonly change: StatusChange };

/** The simulated account's filings, by status or all together. */
type FilingsByStatus = (status?: string) => FilingView;

/**
 * The steps of one tick; a filing changes at most once. An account without unsettled filings gets a new one.
 */
export function planTick(
  filings: FilingsByStatus,
  settings: SimulationSettings,
  random: Random,
): SimulationStep[] {
  const steps = planAdvances(filings, settings, random);
  const room = filings().size < settings.filingsMax;
  if (random() < settings.reopenRate) steps.push(...planReopening(filings('COMPLETED'), random));
  if (room && (steps.length === 0 || random() < settings.createRate)) steps.push({ kind: 'create' });
  return steps;
}

/** The next status of a filing, or undefined if it has none. */
export function nextChange(status: string, rejectRate: number, random: Random): StatusChange | undefined {
  if (status === 'UNPAID') return { status: 'PAID' };
  if (status === 'PAID') return { status: 'PENDING' };
  if (status !== 'PENDING') return undefined;
  if (random() >= rejectRate) return { status: 'COMPLETED' };
  return { status: 'REJECTED', rejectionReason: sampleRejectionReason(random) };
}

function planAdvances(
  filings: FilingsByStatus,
  settings: SimulationSettings,
  random: Random,
): SimulationStep[] {
  const unsettled = ['UNPAID', 'PAID', 'PENDING'].flatMap((status) => filings(status).slice(0, Infinity));
  return sampleIndexes(random, unsettled.length, settings.changesPerTick).flatMap((index) => {
    const filing = unsettled[index];
    const change = filing && nextChange(filing.status, settings.rejectRate, random);
    return filing && change ? [{ kind: 'change' as const, filing, change }] : [];
  });
}

function planReopening(completed: FilingView, random: Random): SimulationStep[] {
  const filing = completed.at(wholeNumber(random, 0, completed.size - 1));
  return filing === undefined ? [] : [{ kind: 'change', filing, change: { status: 'PENDING' } }];
}

/** Changes the filings of one account while it is enabled. */
export type Simulator = ReturnType<typeof createSimulator>;

/** The body of `GET /_sandbox/simulation`. */
export type SimulationState = ReturnType<Simulator['state']>;

interface SimulatorDeps {
  readonly store: FilingStore;
  readonly accounts: Accounts;
  readonly now: () => number;
  readonly random: Random;
}

/** A simulator that is not enabled. */
export function createSimulator(deps: SimulatorDeps) {
  let course = startCourse(deps, { enabled: false });
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    set(request: SimulationRequest): void {
      stop();
      course = startCourse(deps, request);
      if (request.enabled) timer = setInterval(runTick, course.settings.intervalMs, deps, course).unref();
    },
    /** The settings, and the effects since they were set. */
    state() {
      const { owner, settings, ticks, created, changed } = course;
      return { enabled: timer !== undefined, owner, ...settings, ticks, created, changed };
    },
    /** Stops for good; no timer is left. */
    stop,
  };
}

// One run of the simulation: its settings, its account and its progress.
type Course = ReturnType<typeof startCourse>;

function startCourse(deps: SimulatorDeps, request: SimulationRequest) {
  const { enabled: _, owner = deps.accounts.defaultOwner, seed, ...settings } = request;
  return {
    owner,
    settings: { ...defaultSimulation, ...settings } satisfies SimulationSettings,
    random: seed === undefined ? deps.random : createRandom(seed),
    ticks: 0,
    created: 0,
    changed: 0,
  };
}

function runTick(deps: SimulatorDeps, course: Course): void {
  const { owner, settings, random } = course;
  const steps = planTick((status) => deps.store.select({ owner, status }), settings, random);
  for (const step of steps) applyStep(deps, step, owner, random);
  const created = steps.filter(({ kind }) => kind === 'create').length;
  course.ticks += 1;
  course.created += created;
  course.changed += steps.length - created;
}

function applyStep(deps: SimulatorDeps, step: SimulationStep, owner: string, random: Random): void {
  const nowMs = deps.now();
  if (step.kind === 'change') {
    deps.store.put(withStatus(step.filing, step.change, nowMs));
    return;
  }
  const states = statesOf(deps.accounts.byOwner(owner));
  const id = unusedId(deps.store, random);
  deps.store.put(sampleFiling(random, { id, owner, states, status: 'UNPAID', createdAtMs: nowMs, nowMs }));
}
