/** Why an event is not decided, thrown where an expression has used up its steps. */
export const outOfSteps: unique symbol = Symbol('out of steps');

/**
 * Maximum steps of one evaluation. A step takes about ten nanoseconds, so that the longest evaluation stays
 * below a millisecond with room to spare (test/security/fuzz).
 */
export const stepsMax = 20_000;

/**
 * Maximum steps for what is the same for every event and made once, with the filter: a step may make an item
 * of a list, and a thousand compiled filters are kept.
 */
export const foldedStepsMax = 500;

/** One evaluation: the event, the values of the variables of macros, and the steps that are left. */
export interface Evaluation {
  readonly event: unknown;
  readonly bound: unknown[];
  steps: number;
}

/** Takes steps from an evaluation. Throws `outOfSteps` where there are not as many. */
export function spend(evaluation: Evaluation, steps: number): void {
  evaluation.steps -= steps;
  // A constant: an Error would take longer to make than most evaluations.
  // oxlint-disable-next-line typescript/only-throw-error
  if (evaluation.steps < 0) throw outOfSteps;
}

/** Steps of a search for one text in another: the engine's slowest case grows with both lengths. */
export function searchSteps(text: string, sought: string): number {
  return 1 + 2 * text.length + (text.length * sought.length) / 16;
}
