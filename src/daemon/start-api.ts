import { createApi } from '../api/api.ts';
import { createMonitoring } from '../api/operation/monitoring.ts';
import type { Api } from '../api/server/api-instance.ts';
import type { Door } from '../api/server/door.ts';
import type { Config } from '../config/config.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import { apiConnectionsMax, openFilesMax } from './open-files.ts';
import type { Parts } from './parts.ts';
import { createApiDeps, createProbes } from './parts/api-deps.ts';
import type { Part } from './stop-parts.ts';

// Milliseconds that the answers under way may take at the end.
const endMs = 12_000;
// Maximum number of connections to a port of its own; its callers need a few.
const probesMax = 100;

/** Serves the API and the pages behind this door. What ends it is added to `workers`. */
export async function startApi(config: Config, parts: Parts, workers: Part[], door: Door): Promise<void> {
  const api = await createApi({
    ...createApiDeps(config, parts),
    door,
    dashboard: createDashboard(),
    limits: { connections: apiConnectionsMax(openFilesMax()) },
  });
  await serve(api, 'api', door, workers);
}

/** Serves health and metrics alone behind this door, whatever the roles. */
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
