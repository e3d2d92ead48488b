import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import { given, type Option } from './option.ts';

/** Bounds of `timeoutMs`, in milliseconds. A hanging endpoint holds a drain and its sockets for that long. */
export const timeoutBounds = { min: 100, max: 60_000 } as const;
// Bounds of each wait in `retryMs`, in milliseconds, and the maximum number of them.
const retryBounds = { min: 10, max: 7 * 86_400_000, waitsMax: 20 } as const;
// Maximum of `maxInFlight`, whatever the operator permits.
const inFlightMax = 1_000;
/** Bounds of `rate`, in attempts a second: one in a hundred seconds at least. */
export const rateBounds = { min: 0.01, max: 1_000 } as const;

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

/** A subscription's own bounds of delivery. Null or missing means the daemon's own. */
export type DeliveryLimits = Partial<Static<Type.TObject<typeof settings>>>;

/** `throttled` in responses. */
export const throttledSchema = Type.Boolean({
  description: 'True while events wait only because of `rate`; `nextAttemptAt` is then the next turn.',
});

/** Refuses more callbacks in flight than the operator permits. */
export function limitErrors({ maxInFlight: asked }: DeliveryLimits, maxInFlight: number): FieldError[] {
  if (asked == null || asked <= maxInFlight) return [];
  const message = `must be at most ${maxInFlight}, which is the operator's DELIVERY_MAX_IN_FLIGHT`;
  return [{ path: 'maxInFlight', message }];
}

/** The options `timeoutMs`, `retryMs`, `maxInFlight` and `rate`. */
export const limits = {
  input: Type.Partial(Type.Object(settings)).properties,
  shown: settings,
  errors: (body: DeliveryLimits, { maxInFlight }) => limitErrors(body, maxInFlight),
  stored: (body: DeliveryLimits) => given(body, 'timeoutMs', 'retryMs', 'maxInFlight', 'rate'),
  show({ timeoutMs = null, retryMs = null, maxInFlight = null, rate = null }: DeliveryLimits) {
    return { timeoutMs, retryMs, maxInFlight, rate };
  },
} satisfies Option;
