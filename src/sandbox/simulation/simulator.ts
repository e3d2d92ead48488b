import { type Accounts, statesOf } from '../accounts.ts';
import { type FilingStore } from '../filings/filing-store.ts';
import { createRandom, type Random } from '../random.ts';
import { sampleFiling, unusedId } from './sample-filings.ts';
import {
  defaultSimulation,
  planTick,
  type SimulationRequest,
  type SimulationSettings,
  type SimulationStep,
} from './simulation.ts';
import { withStatus } from '../filings/filing.ts';

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
