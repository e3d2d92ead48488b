import type { Api } from '../api/deps.ts';
import type { Config } from '../config/config.ts';
import type { Part } from './stop-parts.ts';
import type { Parts } from './parts.ts';
import { createStartingAnswers, openDoor, type Door, type StartingDeps } from '../api/server/door.ts';
import { createApi, createMonitoring } from '../api/api.ts';
import { createApiDeps, createProbes } from './parts/api-deps.ts';
import { createDashboard } from '../dashboard/dashboard.ts';

/** The ports of a process; null for one that it does not open, such as `monitoring` if the API serves it. */
export type Doors = Awaited<ReturnType<typeof openDoors>>;

/**
 * Listens on the configured ports before there is anything to serve; until then the daemon answers that it is
 * starting. The stack closes the doors. Rejects when a port is not available, with the variable to change.
 */
export async function openDoors(
  { http, metricsPort, roles }: Config,
  deps: StartingDeps,
  stack: AsyncDisposableStack,
) {
  const answer = createStartingAnswers(deps);
  const open = async (variable: PortVariable, port: number) => {
    const door = openDoor(http.host, port, answer).catch((error: NodeJS.ErrnoException) => {
      const problem = listenProblem(error.code ?? '', http.host, variable, port) ?? error.message;
      throw new Error(problem, { cause: error });
    });
    return stack.use(await door);
  };
  const hasApi = roles.has('api');
  const isServed = hasApi && metricsPort === http.port && metricsPort !== 0;
  const api = hasApi ? await open('PORT', http.port) : null;
  const monitoring = metricsPort === null || isServed ? null : await open('METRICS_PORT', metricsPort);
  return { api, monitoring };
}

type PortVariable = 'PORT' | 'METRICS_PORT';

/**
 * Why the daemon cannot listen and which variable to change, by the code of the system's error; null for
 * others.
 */
function listenProblem(code: string, host: string, variable: PortVariable, port: number): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `another process listens at port ${port} of ${host}: set ${variable} to a free port, or end that process`;
    case 'EACCES':
      return `port ${port} is for privileged processes: set ${variable} to one above 1023`;
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is no address of this machine: set HOST to one, to 127.0.0.1 or to 0.0.0.0`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
      return `HOST ${host} is a name that this machine cannot resolve: set HOST to an address, such as 127.0.0.1 or 0.0.0.0`;
    default:
      return null;
  }
}

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

/**
 * Maximum number of files and sockets that this process may have open; Infinity if the system sets no limit.
 */
export function openFilesMax(): number {
  // Looking up the names of this machine's addresses could take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  const max = Number(userLimits?.open_files?.soft);
  return Number.isNaN(max) ? Infinity : max;
}

// Number of files kept free of API connections: twice as many as an idle process has open.
const ownFiles = 128;

/**
 * Maximum number of API connections under that limit; the rest is left for Redis, partner services and
 * receivers. Pure.
 */
export function apiConnectionsMax(openFiles: number): number {
  return Math.max(1, Math.min(20_000, Math.floor(openFiles * 0.75), openFiles - ownFiles));
}
