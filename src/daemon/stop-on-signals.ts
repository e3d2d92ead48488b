const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Aborts with the name of the first signal that asks the process to end. Later ones change nothing: npm and a
 * terminal both pass a Ctrl-C on, and what is in flight is finished within a bounded time anyway.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const signal of signals) process.on(signal, () => stop.abort(signal));
  return stop;
}

/** The same, and also when nobody reads standard output any more, for commands that people run. */
export function stopOnSignalsOrBrokenPipe(): AbortController {
  const stop = stopOnSignals();
  process.stdout.on('error', () => stop.abort());
  return stop;
}
