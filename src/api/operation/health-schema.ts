import { Type } from 'typebox';
import { record } from '../shared/schema.ts';

const reasons = Type.Array(Type.String(), {
  description: 'What is wrong and what to do; empty when nothing is.',
});

/** Answer of GET /health/ready. */
export const readinessSchema = record({ ready: Type.Boolean(), reasons }, { description: 'The verdict.' });

/** Answer of GET /health/live. */
export const livenessSchema = record({ live: Type.Boolean(), reasons }, { description: 'The verdict.' });
