import { setTimeout as delay } from 'node:timers/promises';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { onceForAll } from '../../memory/shared-work.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { answer, openProblems, operation, shared } from '../shared/schema.ts';

// Milliseconds for the response about readiness; supervisors often allow two seconds.
const readinessMs = 1_800;
// Milliseconds for which the text of the metrics is served again.
const scrapeMs = 1_000;

const reasonsSchema = Type.Array(Type.String(), {
  description: 'What is wrong and what to do; empty when nothing is.',
});
const readinessSchema = shared('Readiness', { ready: Type.Boolean(), reasons: reasonsSchema });
const livenessSchema = shared('Liveness', { live: Type.Boolean(), reasons: reasonsSchema });
const verdict = (schema: TSchema, headers = {}) =>
  answer(schema, 'The verdict; `reasons` say what is wrong.', headers);

const { default: anyProblem } = openProblems() as { default: object };
// Seconds until a probe may ask again.
const retryAfter = '5';

/** The sources of health and metrics. */
export type HealthDeps = Pick<ApiDeps, 'liveness' | 'readiness' | 'metrics' | 'beforeScrape'>;

/** Liveness, readiness and metrics in Prometheus' text format; they need no token. */
export function addHealthRoutes(app: Api, { liveness, readiness, metrics, beforeScrape }: HealthDeps): void {
  app.get('/health/live', getLiveness, async (_request, reply) => {
    const { live, reasons } = liveness();
    void reply.code(live ? 200 : 503);
    return { live, reasons: [...reasons] };
  });

  app.get('/health/ready', getReadiness, async (_request, reply) => {
    const { ready, reasons } = await inTime(readiness);
    void reply.code(ready ? 200 : 503);
    if (!ready) void reply.header('retry-after', retryAfter);
    return { ready, reasons: [...reasons] };
  });

  const scrape = onceForAll(async () => {
    try {
      await beforeScrape?.();
    } catch (error) {
      // The process's own metrics are served even without Redis: then they matter most.
      app.log.warn({ error: String(error) }, 'metrics.not_refreshed');
    }
    return Buffer.from(await metrics.metrics());
  }, scrapeMs);
  app.get('/metrics', getMetrics, async (_request, reply) => {
    const body = await scrape();
    // The schema of the response says text, and a buffer of it is sent as it is.
    return reply.type(metrics.contentType).send(body as unknown as string);
  });
}

async function inTime(readiness: ApiDeps['readiness']) {
  const late = notReady('The check took too long: Redis does not answer in time.');
  try {
    return await Promise.race([readiness(), delay(readinessMs, late, { ref: false })]);
  } catch {
    return notReady('The check failed: see the log of the daemon.');
  }
}

function notReady(reason: string) {
  return { ready: false, reasons: [reason] };
}

const getLiveness = operation({
  operationId: 'getLiveness',
  summary: 'Whether the process works; 503 means that a restart would help',
  description: 'Needs no token and asks no other service: a daemon whose Redis is away lives on.',
  response: {
    200: verdict(livenessSchema),
    503: verdict(livenessSchema),
    '4xx': anyProblem,
    default: anyProblem,
  },
});

const getReadiness = operation({
  operationId: 'getReadiness',
  summary: 'Whether the daemon keeps its promise right now; 503 says why not',
  description:
    'Needs no token. `reasons` names each fault that keeps events from being detected or delivered.',
  response: {
    200: verdict(readinessSchema),
    503: verdict(readinessSchema, { 'retry-after': 'Seconds until it is worth asking again.' }),
    '4xx': anyProblem,
    default: anyProblem,
  },
});

const getMetrics = operation({
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus',
  description: 'In the text format. One answer is made for all that ask within a second.',
  response: {
    200: { description: 'Metrics.', content: { 'text/plain': { schema: Type.String() } } },
    ...openProblems(),
  },
});
