/** The demo's settings of the simulation; the others are the sandbox's defaults (docs/sandbox.md). */
const lives = {
  enabled: true,
  intervalMs: 1_000,
  changesPerTick: 1,
  createRate: 0.3,
  rejectRate: 0.35,
  reopenRate: 0.1,
  filingsMax: 500,
};

/**
 * Fills a sandbox with an account's history, most filings settled and some not. Rejects when the sandbox
 * refuses.
 */
export async function seedFilings(sandboxUrl: string): Promise<void> {
  await control(sandboxUrl, 'POST', 'seed', { count: 40 });
  await control(sandboxUrl, 'POST', 'seed', { count: 6, status: 'PENDING' });
}

/**
 * Lets the sandbox's filings move by themselves from now on, about one change a second; harmless to repeat.
 */
export async function simulateLives(sandboxUrl: string): Promise<void> {
  await control(sandboxUrl, 'PUT', 'simulation', lives);
}

async function control(
  sandboxUrl: string,
  method: 'POST' | 'PUT',
  name: string,
  body: unknown,
): Promise<void> {
  const response = await fetch(`${sandboxUrl}/_sandbox/${name}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the sandbox answered ${response.status}: ${await response.text()}`);
}
