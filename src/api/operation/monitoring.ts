import helmet from '@fastify/helmet';
import { limitOpenRoutes } from '../access/limits.ts';
import { securityHeaders } from '../api.ts';
import type { Api } from '../server/api-instance.ts';
import { createInstance } from '../server/create-instance.ts';
import type { ApiDeps } from '../deps.ts';
import { addHealthRoutes } from './health.ts';
import { recordRoutes, refuseOtherMethods } from '../server/http-rules.ts';

/**
 * Health and metrics of the API and nothing else, for a port of their own: a Fastify instance that does not
 * listen yet.
 */
export async function createMonitoring(
  deps: Pick<
    ApiDeps,
    | 'logger'
    | 'timing'
    | 'limits'
    | 'trustedProxies'
    | 'liveness'
    | 'readiness'
    | 'metrics'
    | 'beforeScrape'
    | 'door'
  >,
): Promise<Api> {
  const app = createInstance(deps);
  const routes = recordRoutes(app);
  await app.register(helmet, securityHeaders);
  limitOpenRoutes(app, deps);
  addHealthRoutes(app, deps);
  refuseOtherMethods(app, routes, '');
  return app;
}
