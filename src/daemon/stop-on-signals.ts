const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * A controller that aborts with the name of the first signal to end the process. Later signals change
 * nothing: npm and a terminal both pass a Ctrl-C on, and work in flight ends within a bounded time anyway.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const signal of signals) process.on(signal, () => stop.abort(signal));
  return stop;
}

/**
 * As `stopOnSignals`, and also aborts when the reader of standard output is gone; for commands that people
 * run.
 */
export function stopOnSignalsOrBrokenPipe(): AbortController {
  const stop = stopOnSignals();
  process.stdout.on('error', () => stop.abort());
  return stop;
}
