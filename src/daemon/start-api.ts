import { createApi, createMonitoring } from '../api/api.ts';
import type { Api } from '../api/server/api-instance.ts';
import type { Door } from '../api/server/door.ts';
import type { Config } from '../config/config.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import { apiConnectionsMax, openFilesMax } from './open-files.ts';
import type { Parts } from './parts.ts';
import { createApiDeps, createProbes } from './parts/api-deps.ts';
import type { Part } from './stop-parts.ts';

// Milliseconds that responses in flight may take at the end.
const endMs = 12_000;
// Maximum number of connections to the monitoring port; probes and scrapes need a few.
const probesMax = 100;

/** Serves the API and the dashboard behind this door, and adds the part that stops them to `workers`. */
export async function startApi(config: Config, parts: Parts, workers: Part[], door: Door): Promise<void> {
  const api = await createApi({
    ...createApiDeps(config, parts),
    door,
    dashboard: createDashboard(config.frameAncestors),
    limits: { connections: apiConnectionsMax(openFilesMax()) },
  });
  await serve(api, 'api', door, workers);
}

/**
 * Serves only health and metrics behind this door, with any roles; adds the part that stops them to
 * `workers`.
 */
export async function startMonitoring(
  { trustedProxies }: Config,
  parts: Parts,
  workers: Part[],
  door: Door,
): Promise<void> {
  const limits = { connections: probesMax };
  const monitoring = await createMonitoring({ ...createProbes(parts), limits, trustedProxies, door });
  await serve(monitoring, 'monitoring', door, workers);
}

async function serve(app: Api, name: string, door: Door, workers: Part[]): Promise<void> {
  workers.push({ name, deadlineMs: endMs, needsRedis: false, stop: () => app.close() });
  await door.handOver(app);
}
