import { Type } from 'typebox';
import type { Static } from 'typebox';
import { endpoints } from '../server/endpoints.ts';

const Rate = Type.Number({ minimum: 0, maximum: 1 });
const Whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const Delay = Whole(0, 60_000);
const headerName = '^[A-Za-z0-9-]{1,100}$';
const HeaderValue = Type.String({ pattern: '^[\\x20-\\x7e]*$' });
const closed = { additionalProperties: false } as const;

/**
 * The distortion of the responses of `GET /partner/filings`; each page still arrives in a correct HTTP
 * response.
 */
export const ListFaults = Type.Object(
  {
    limitMax: Type.Optional(Whole(1, 100)),
    ignoreLimit: Type.Optional(Type.Boolean()),
    padBytes: Type.Optional(Whole(1, 20_000_000)),
    shuffle: Type.Optional(Type.Enum(['page', 'list'])),
    total: Type.Optional(
      Type.Union([Type.Enum(['missing', 'null', 'string']), Type.Object({ add: Type.Integer() }, closed)]),
    ),
    ignoreOffset: Type.Optional(Type.Boolean()),
    emptyFrom: Type.Optional(Whole(0, Number.MAX_SAFE_INTEGER)),
  },
  closed,
);

/**
 * The body of `PUT /_sandbox/faults`: which faults occur, how often, and for which requests. `{}` is a
 * healthy service.
 */
export const Faults = Type.Object(
  {
    endpoints: Type.Optional(Type.Array(Type.Enum(endpoints), { minItems: 1 })),
    owners: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    after: Type.Optional(Whole(0, Number.MAX_SAFE_INTEGER)),
    times: Type.Optional(Whole(1, Number.MAX_SAFE_INTEGER)),
    latencyMs: Type.Optional(Type.Union([Delay, Type.Object({ min: Delay, max: Delay }, closed)])),
    authFailure: Type.Optional(Type.Enum([401, 403])),
    rateLimit: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(Whole(0, 1_000_000)),
          windowMs: Type.Optional(Whole(1, 3_600_000)),
          retryAfter: Type.Optional(Type.Union([HeaderValue, Type.Number()])),
        },
        closed,
      ),
    ),
    hangRate: Type.Optional(Rate),
    errorRate: Type.Optional(Rate),
    errorStatuses: Type.Optional(Type.Array(Whole(400, 599), { minItems: 1 })),
    errorBody: Type.Optional(Type.Enum(['json', 'html'])),
    htmlRate: Type.Optional(Rate),
    answer: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(Whole(200, 599)),
          headers: Type.Optional(Type.Record(Type.String({ pattern: headerName }), HeaderValue)),
          body: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    cutRate: Type.Optional(Rate),
    cut: Type.Optional(Type.Enum(['connection', 'json'])),
    dripBytesPerSecond: Type.Optional(Whole(1, 1_000_000)),
    list: Type.Optional(ListFaults),
  },
  closed,
);

export type Faults = Static<typeof Faults>;
export type ListFaults = Static<typeof ListFaults>;
