import { Type } from 'typebox';
import { hiddenPath } from '../../subscriptions/options/url.ts';
import { leftBehind } from './leave-behind.ts';
import { optionInputs, optionsShown } from '../../subscriptions/options/all-options.ts';
import { notBeforeSchema } from '../../subscriptions/not-before.ts';
import { throttledSchema } from '../../subscriptions/options/limits.ts';
import { madeSecretSchema } from '../../subscriptions/options/signatures.ts';
import { eventPatterns } from '../../events/event-types.ts';
import { callbackUrlLengthMax } from '../../egress/url-policy.ts';
import { callbackFormats } from '../../subscriptions/subscription.ts';
import * as s from '../shared/schema.ts';
import { idempotencyKeyPattern, secretPattern } from '../shared/patterns.ts';

const url = Type.String({
  minLength: 1,
  maxLength: callbackUrlLengthMax,
  description:
    'The endpoint of the callbacks: absolute, by default https only, at a public address. With a mail server (SMTP_URL) also `mailto:` and one address.',
  examples: ['https://example.com/hooks/filings'],
});

/** Path of a subscription. */
export const subscriptionParams = Type.Object({
  ...s.accountParams,
  id: s.string('Id of the subscription.', { examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
});

/** Event types that a subscription wants, in requests. */
export const eventTypesSchema = Type.Array(s.oneOf(eventPatterns), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description:
    'Exact names, `prefix.*`, or `*` for everything that is logged. Operational events (`account.*`, `subscription.*`) only go to subscriptions that name them.',
  examples: [['filing.*']],
});

/** States that a subscription wants, in requests and responses. */
export const statesSchema = s.nullable(
  Type.Array(s.stateSchema(), { minItems: 1, maxItems: 100, uniqueItems: true }),
  {
    description: 'State abbreviations of the filings that the subscription wants; null = all.',
    examples: [['TX', 'CA']],
  },
);

/** Statuses that a subscription wants, in requests and responses. */
export const statusesSchema = s.nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 50, uniqueItems: true }),
  {
    description:
      'Statuses that an event leads to, in any case; null = all. `["REJECTED"]` selects every event after which the filing is REJECTED: `filing.rejected`, also a changed reason, and `filing.created` or `filing.restored` of a filing that is REJECTED then. Operational events have no status and pass.',
    examples: [['REJECTED']],
  },
);

const description = s.nullable(Type.String({ maxLength: 500 }), {
  examples: ['Status page of the back office'],
});

const format = s.oneOf(callbackFormats, {
  default: 'standard',
  description:
    'The body as in `webhooks`, as a structured CloudEvent, or as a message for people: Slack (Block Kit), Microsoft Teams (Adaptive Card) or, for `mailto:` URLs and set by them, e-mail.',
});

const payload = s.oneOf(['full', 'thin'], {
  default: 'full',
  description: '`thin` leaves `data.filing` out.',
});

const beginnings = ['now', 'earliest', 'state'] as const;

/** A signing secret in requests. */
export const secretSchema = Type.String({
  pattern: secretPattern,
  description: '`whsec_` and the base64 of 24 to 64 random bytes (Standard Webhooks).',
  examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
});

const settings = {
  url,
  ...s.optional({
    eventTypes: eventTypesSchema,
    states: statesSchema,
    statuses: statusesSchema,
    description,
    format,
    payload,
    ...optionInputs,
    secret: secretSchema,
  }),
};

const enabled = s.boolean(
  'A disabled subscription keeps its place in the log; enabling delivers what it missed.',
);

/** Body of POST …/subscriptions. */
export const subscriptionInputSchema = s.record({
  ...settings,
  ...s.optional({
    enabled: enabled,
    from: s.oneOf(beginnings, {
      default: 'now',
      description:
        '`earliest` first delivers all events that are still in the log; `state` first delivers each filing as it is, once, as `filing.snapshot`, and changes as they come.',
    }),
  }),
});

/** Body of PATCH …/subscriptions/{id}. */
export const subscriptionPatchSchema = s.record({
  ...settings,
  ...s.optional({
    url: url,
    from: s.oneOf(beginnings, {
      description:
        '`earliest` where it was `now` delivers everything that is still in the log, as a replay without conditions does; `state` delivers each filing as it is once more, whatever it was; `now` takes nothing back.',
    }),
    enabled: enabled,
  }),
});

/** Headers of POST …/subscriptions. */
export const idempotencyHeaders = Type.Object(
  s.optional({
    'idempotency-key': Type.String({
      pattern: idempotencyKeyPattern,
      description:
        'For 24 hours the same key and request get the same response and register nothing twice, even if the subscription was changed or deleted meanwhile: to register it anew, use a new key.',
      examples: ['0b5a7a3e-6d0c-4f57-9a53-5c2a2f1f8f0e'],
    }),
  }),
);

const shown = {
  id: Type.String({ examples: ['sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'] }),
  account: Type.String({ examples: ['default'] }),
  url: s.string(
    `The endpoint of the callbacks. A read-only token sees its origin and \`${hiddenPath}\`, because receivers keep credentials in the path.`,
    { examples: ['https://example.com/hooks/filings'] },
  ),
  eventTypes: eventTypesSchema,
  states: statesSchema,
  statuses: statusesSchema,
  description,
  format,
  payload,
  ...optionsShown,
  undecided: s.integer(
    'Number of events that were delivered because the present `filter` could not decide on them: a field was missing, or it held another kind of value.',
  ),
  throttled: throttledSchema,
  from: s.oneOf(beginnings, { description: 'Where it began in the log.' }),
  enabled: Type.Boolean(),
  state: s.oneOf(['active', 'failing', 'unverified', 'disabled'], {
    description:
      '`unverified` until the endpoint has answered as `verification` asks; `failing` from a failed attempt to the next success, and while `lastError` says why nothing can be sent.',
  }),
  disabledReason: s.stringOrNull(
    '`by request`, `expired`, or what the endpoint did; null while it is enabled.',
  ),
  lag: s.integer(
    'Number of undelivered events: those that it wants, and all events that were trimmed from the log for their age before delivery. While it is more than 2000 behind, all events of the log count.',
  ),
  notBefore: notBeforeSchema,
  consecutiveFailures: Type.Integer(),
  nextAttemptAt: s.timeOrNull('When the next attempt is due; null if no event waits for one.'),
  lastSuccessAt: s.timeOrNull('When a callback was last acknowledged.'),
  lastError: s.stringOrNull(
    'Why the daemon itself can send nothing, and what to do: the delivering process lacks a key, a newer version wrote the settings, the token endpoint of `auth` gave no token at the last attempt, or the endpoint is not verified. Null otherwise; responses of the endpoint are in the attempts. The daemon tries again at growing intervals up to five minutes, and at once after any PATCH, rotate-secret or start of the daemon.',
  ),
  unreadable: s.stringOrNull(
    'Why its secret, custom headers, `auth` or `tls` cannot be read: ENCRYPTION_KEY lacks the key that sealed them. Nothing is delivered until the key is back, or PATCH has set `secret`, `headers`, `auth` and `tls` anew. Shown is only what can be read.',
  ),
  previousSecretExpiresAt: s.timeOrNull('Until then callbacks carry a second signature after a rotation.'),
  createdBy: s.stringOrNull('Id of the token or link with which it was made; null = the operator token.', {
    examples: ['tok_9f86d081884c7d65'],
  }),
  createdAt: s.time('When it was registered.'),
  updatedAt: s.time('When its settings last changed.'),
};

/** A subscription as the API shows it; never with a secret. */
export const subscriptionSchema = s.shared('Subscription', shown);

const warningsSchema = Type.Array(Type.String(), {
  description:
    'Settings of this request that are permitted and probably not meant, such as a state that nothing of the account has.',
});

/** Response of POST …/subscriptions. */
export const registeredSchema = s.shared('RegisteredSubscription', {
  ...shown,
  secret: madeSecretSchema,
  warnings: warningsSchema,
});

/** Response of PATCH …/subscriptions/{id}. */
export const changedSchema = s.shared('ChangedSubscription', {
  ...shown,
  warnings: warningsSchema,
  ...s.optional({
    dropped: Type.Array(s.oneOf(leftBehind), {
      description:
        'Only after a change of `url` to another origin: what was not given anew and is therefore gone.',
    }),
    secret: s.string(
      'Only where the change made one, for a dropped secret or for `v1` anew: shown only now; callbacks are signed with it.',
    ),
  }),
});
