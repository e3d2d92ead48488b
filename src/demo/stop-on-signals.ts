/**
 * Aborts on SIGINT, SIGTERM, SIGHUP and when nobody reads standard output any more. Later signals change nothing: a Ctrl-C under npm
 * arrives twice, and what has been started is taken down either way.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  process.stdout.on('error', () => stop.abort());
  return stop;
}
