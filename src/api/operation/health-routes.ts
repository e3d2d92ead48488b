import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../server/api-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { getLiveness, getReadiness } from './health-operations.ts';

const readinessMs = 1_800;

/** Liveness and readiness, for whoever runs the process; no token is asked for. */
export function addHealthRoutes(
  app: Api,
  { liveness, readiness }: Pick<ApiDeps, 'liveness' | 'readiness'>,
): void {
  app.get('/health/live', { schema: getLiveness }, async (_request, reply) => {
    const { live, reasons } = liveness();
    void reply.code(live ? 200 : 503);
    return { live, reasons: [...reasons] };
  });

  app.get('/health/ready', { schema: getReadiness }, async (_request, reply) => {
    const { ready, reasons } = await inTime(readiness);
    void reply.code(ready ? 200 : 503);
    return { ready, reasons: [...reasons] };
  });
}

async function inTime(readiness: ApiDeps['readiness']) {
  const timer = new AbortController();
  const late = delay(readinessMs, notReady('The check took too long: Redis does not answer in time.'), {
    signal: timer.signal,
  });
  try {
    return await Promise.race([readiness(), late]);
  } catch {
    return notReady('The check failed: see the log of the daemon.');
  } finally {
    timer.abort();
  }
}

function notReady(reason: string) {
  return { ready: false, reasons: [reason] };
}
