/**
 * Aborts on SIGINT, SIGTERM, SIGHUP and when nobody reads standard output any more. Later signals change nothing, so
 * that an impatient second Ctrl-C does not leave half of it behind.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  process.stdout.on('error', () => stop.abort());
  return stop;
}
