import { defaultTiming } from '../deps.ts';
import type { ApiTiming } from '../deps.ts';

// Milliseconds between two checks for late requests, short enough that few are ended at once.
const checkConnectionsMs = 30;
const keepAliveMs = 72_000;

/**
 * The options of Node's HTTP server and the times that are set on it afterwards, as Fastify does; the door
 * and the instance share them.
 */
export function httpTimes(timing: Partial<ApiTiming> = {}) {
  const { idleMs, requestMs } = { ...defaultTiming, ...timing };
  return {
    options: {
      // A hook answers a request without a host, because Node's own response is no problem+json.
      requireHostHeader: false,
      // Node does not hold bodies to `requestTimeout` while `headersTimeout`, a minute by default, is longer.
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.min(checkConnectionsMs, requestMs),
    },
    server: { keepAliveTimeout: keepAliveMs, requestTimeout: requestMs, timeout: idleMs },
  };
}
