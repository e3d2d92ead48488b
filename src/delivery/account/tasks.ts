interface Failure {
  readonly error: unknown;
}

/** Work beside a loop, and the sleep of the loop until any of it has ended. */
export class Tasks {
  #underWay = 0;
  #failure: Failure | null = null;
  #wake: (() => void) | null = null;

  /** Begins work; the first that fails is remembered. */
  begin(work: () => Promise<void>): void {
    const end = this.started();
    work().then(
      () => end(),
      (error: unknown) => end({ error }),
    );
  }

  /**
   * Counts work that begins and ends elsewhere; the returned function ends it, once, with its failure if
   * any.
   */
  started(): (failure?: Failure) => void {
    this.#underWay += 1;
    return (failure) => {
      this.#underWay -= 1;
      if (failure !== undefined) this.#failure ??= failure;
      this.poke();
    };
  }

  /** Number of those under way. */
  count(): number {
    return this.#underWay;
  }

  failure(): Failure | null {
    return this.#failure;
  }

  /** Forgets a failure. */
  reset(): void {
    this.#failure = null;
  }

  /** Ends a sleep. */
  poke(): void {
    this.#wake?.();
  }

  /** Sleeps for these milliseconds, or until it is poked. */
  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#wake = null;
  }
}
