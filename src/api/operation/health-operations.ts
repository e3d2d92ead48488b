import { Type } from 'typebox';
import { livenessSchema, readinessSchema } from './health-schema.ts';

/** What GET /health/live takes and answers. */
export const getLiveness = {
  tags: ['Operation'],
  operationId: 'getLiveness',
  security: [],
  summary: 'Whether the process works; 503 means that a restart would help',
  response: { 200: livenessSchema, 503: livenessSchema },
};

/** What GET /health/ready takes and answers. */
export const getReadiness = {
  tags: ['Operation'],
  operationId: 'getReadiness',
  security: [],
  summary: 'Whether the daemon keeps its promise right now; 503 says why not',
  response: { 200: readinessSchema, 503: readinessSchema },
};

/** What GET /metrics takes and answers. */
export const getMetrics = {
  tags: ['Operation'],
  operationId: 'getMetrics',
  security: [],
  summary: 'Metrics for Prometheus',
  response: { 200: { description: 'Metrics.', content: { 'text/plain': { schema: Type.String() } } } },
};
