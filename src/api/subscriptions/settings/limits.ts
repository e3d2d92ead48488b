import { Type } from 'typebox';
import type { FieldError } from '../../../json/validation-problems.ts';
import {
  inFlightMax,
  rateBounds,
  retryBounds,
  timeoutBounds,
  type DeliveryLimits,
} from '../../../subscriptions/settings/limits.ts';
import { nullable } from '../../shared/schema.ts';

const settings = {
  timeoutMs: nullable(Type.Integer({ minimum: timeoutBounds.min, maximum: timeoutBounds.max }), {
    description:
      'Milliseconds for a whole callback, from connecting to the end of the response; null = as the operator has set it.',
    examples: [5_000],
  }),
  retryMs: nullable(
    Type.Array(Type.Integer({ minimum: retryBounds.min, maximum: retryBounds.max }), {
      minItems: 1,
      maxItems: retryBounds.waitsMax,
    }),
    {
      description:
        'Milliseconds between the attempts of an event, each ±20 %; when the attempt after the last wait fails, the event becomes a dead letter. null = as the operator has set it. A wait that has begun ends as it was decided.',
      examples: [[5_000, 300_000, 3_600_000]],
    },
  ),
  maxInFlight: nullable(Type.Integer({ minimum: 1, maximum: inFlightMax }), {
    description:
      "Maximum number of callbacks in flight, at most the operator's `DELIVERY_MAX_IN_FLIGHT`; 1 delivers one after the other. null = as the operator has set it.",
    examples: [1],
  }),
  rate: nullable(Type.Number({ minimum: rateBounds.min, maximum: rateBounds.max }), {
    description:
      'Maximum number of attempts a second over all processes, retries and replays included, evenly spaced; below 1 for fewer. null = without a bound.',
    examples: [5],
  }),
};

/** The limits in requests: all of them optional. */
export const limitInputs = {
  timeoutMs: Type.Optional(settings.timeoutMs),
  retryMs: Type.Optional(settings.retryMs),
  maxInFlight: Type.Optional(settings.maxInFlight),
  rate: Type.Optional(settings.rate),
};

/** The limits in responses. */
export const limitsShown = {
  ...settings,
  throttled: Type.Boolean({
    description: 'True while events wait only because of `rate`; `nextAttemptAt` is then the next turn.',
  }),
};

/** The limits as the API shows them. */
export function showLimits(subscription: DeliveryLimits, throttled: boolean) {
  const { timeoutMs = null, retryMs, maxInFlight = null, rate = null } = subscription;
  return {
    timeoutMs,
    retryMs: retryMs == null ? null : [...retryMs],
    maxInFlight,
    rate,
    throttled,
  };
}

/** Refuses more callbacks in flight than the operator permits. */
export function limitErrors(body: unknown, maxInFlight: number): FieldError[] {
  const asked = (body as { readonly maxInFlight?: unknown } | null | undefined)?.maxInFlight;
  if (typeof asked !== 'number' || asked <= maxInFlight || asked > inFlightMax) return [];
  const message = `must be at most ${maxInFlight}, which is the operator's DELIVERY_MAX_IN_FLIGHT`;
  return [{ path: 'maxInFlight', message }];
}
