type Part = () => Promise<void>;

const parts: Readonly<Record<string, () => Promise<{ readonly measure: Part }>>> = {
  delivering: () => import('./scale/delivering.ts'),
  polling: () => import('./scale/polling.ts'),
  accounts: () => import('./scale/accounts.ts'),
  filings: () => import('./scale/filings.ts'),
  spread: () => import('./scale/spread.ts'),
  events: () => import('./scale/events.ts'),
  subscriptions: () => import('./scale/subscriptions.ts'),
};

/**
 * What scales with what: processes, accounts, filings, events and subscriptions, with the processor time of
 * each process from /proc. `BENCH_PARTS` names the parts to run, two minutes each at most, and `BENCH_SIZES`
 * other sizes than the part's own. Figures go to `BENCH_OUTPUT` (docs/images/scale.json) too; `--pictures`
 * only draws the curves of docs/scaling.md from there.
 */
export async function run(): Promise<void> {
  if (process.argv.includes('--pictures')) {
    const { drawAll } = await import('./scale/pictures.ts');
    return drawAll();
  }
  const asked = process.env['BENCH_PARTS']?.split(',') ?? Object.keys(parts);
  for (const name of asked) {
    const load = parts[name];
    if (load === undefined) throw new Error(`no part ${name}; there are ${Object.keys(parts).join(', ')}`);
    // One after the other: they would disturb each other.
    // oxlint-disable no-await-in-loop
    const { measure } = await load();
    await measure();
    // oxlint-enable no-await-in-loop
  }
}
