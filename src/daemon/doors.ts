import { addressesOf, openDoor, type Door } from '../api/server/door.ts';
import { createStartingAnswers, type StartingDeps } from '../api/server/starting.ts';
import type { Config } from '../config/config.ts';

/** The ports of a process; null where it has none. */
export interface Doors {
  readonly api: Door | null;
  /** Null also where the API serves that port. */
  readonly monitoring: Door | null;
}

/**
 * Listens on the configured ports before there is anything to serve; until then the daemon answers that it is
 * starting. The stack closes the doors. Rejects when a port is not available.
 */
export async function openDoors(
  { http, metricsPort, roles }: Config,
  deps: StartingDeps,
  stack: AsyncDisposableStack,
): Promise<Doors> {
  const answer = createStartingAnswers(deps);
  const addresses = await addressesOf(http.host);
  const open = async (port: number) => stack.use(await openDoor(addresses, port, answer));
  const hasApi = roles.has('api');
  const isServed = hasApi && metricsPort === http.port && metricsPort !== 0;
  const api = hasApi ? await open(http.port) : null;
  const monitoring = metricsPort === null || isServed ? null : await open(metricsPort);
  return { api, monitoring };
}
