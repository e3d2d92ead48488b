import { createStartingAnswers, openDoor, type Door, type StartingDeps } from '../api/server/door.ts';
import type { Config } from '../config/config.ts';

/** The ports of a process; null where it has none. */
export interface Doors {
  readonly api: Door | null;
  /** Null also where the API serves that port. */
  readonly monitoring: Door | null;
}

/**
 * Listens on the configured ports before there is anything to serve; until then the daemon answers that it is
 * starting. The stack closes the doors. Rejects when a port is not available, with the variable to change.
 */
export async function openDoors(
  { http, metricsPort, roles }: Config,
  deps: StartingDeps,
  stack: AsyncDisposableStack,
): Promise<Doors> {
  const answer = createStartingAnswers(deps);
  const open = async (variable: PortVariable, port: number) =>
    stack.use(await named(() => openDoor(http.host, port, answer), http.host, variable, port));
  const hasApi = roles.has('api');
  const isServed = hasApi && metricsPort === http.port && metricsPort !== 0;
  const api = hasApi ? await open('PORT', http.port) : null;
  const monitoring = metricsPort === null || isServed ? null : await open('METRICS_PORT', metricsPort);
  return { api, monitoring };
}

type PortVariable = 'PORT' | 'METRICS_PORT';

async function named<T>(
  listen: () => Promise<T>,
  host: string,
  variable: PortVariable,
  port: number,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(listenProblem(code, host, variable, port) ?? message, { cause: error });
  }
}

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
