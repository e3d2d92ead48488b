import { canIsolate, runIsolated } from '../support/connections/isolated-network.ts';
import type { NamesReport } from './support/names-process.ts';
import { percentile, print } from './support/statistics.ts';

/**
 * A neighbour's callbacks, each with a lookup and a connection of its own, alone and while another account
 * registers and calls a hundred names whose name server is dead. Runs in a network of its own.
 */
export async function run(): Promise<void> {
  if (!canIsolate) {
    process.stdout.write('  skipped: no network of its own can be had here (Linux, unshare, ip)\n');
    return;
  }
  const script = new URL('support/names-process.ts', import.meta.url);
  const { alone, beside, failed, registered, tried } = runIsolated(script) as NamesReport;
  for (const [label, durations] of [
    ['alone', alone],
    ['beside a hundred dead names', beside],
  ] as const)
    print(label, {
      callbacks: String(durations.length),
      'p50 ms': percentile(durations, 0.5),
      'p99 ms': percentile(durations, 0.99),
      'max ms': Math.max(...durations),
    });
  print('dead names', {
    registered: String(registered),
    'looked up': String(tried),
    'callbacks that failed': String(failed),
  });
}
