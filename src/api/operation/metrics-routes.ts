import type { Api } from '../server/api-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { getMetrics } from './health-operations.ts';

/** Metrics in Prometheus' text format; no token is asked for. */
export function addMetricsRoutes(
  app: Api,
  { metrics, beforeScrape }: Pick<ApiDeps, 'metrics' | 'beforeScrape'>,
): void {
  app.get('/metrics', { schema: getMetrics }, async (request, reply) => {
    try {
      await beforeScrape?.();
    } catch (error) {
      // Without Redis the process's own metrics matter most.
      request.log.warn({ error: String(error) }, 'metrics.not_refreshed');
    }
    void reply.type(metrics.contentType);
    return metrics.metrics();
  });
}
