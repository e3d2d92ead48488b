import { defaultTiming } from '../deps.ts';
import type { ApiTiming } from '../deps.ts';

// Milliseconds between two looks for connections whose request is late: so often that not too many are cut at
// once.
const checkConnectionsMs = 30;
const keepAliveMs = 72_000;

/**
 * What Node's HTTP server is made with and what is set on it then, as Fastify would; one home for both who
 * make servers.
 */
export function httpTimes(timing: Partial<ApiTiming> = {}) {
  const { idleMs, requestMs } = { ...defaultTiming, ...timing };
  return {
    options: {
      // A request without a host is answered by a hook, for Node's own answer is no problem+json.
      requireHostHeader: false,
      // Node does not hold bodies to the one time when the other, by default a minute, is longer.
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.min(checkConnectionsMs, requestMs),
    },
    server: { keepAliveTimeout: keepAliveMs, requestTimeout: requestMs, timeout: idleMs },
  };
}
