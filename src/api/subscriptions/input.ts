import { randomBytes } from 'node:crypto';
import { setImmediate as othersFirst } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { AccountToken } from '../../accounts/token-store.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionChange } from '../../subscriptions/store/subscription-store.ts';
import { snapshotType } from '../../events/event-types.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';
import { isCalledOtherwise } from '../../subscriptions/subscription.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { Dear } from '../access/dear-requests.ts';
import { requireSeenTypes } from '../access/own-subscriptions.ts';
import type { ApiDeps } from '../deps.ts';
import { isMailUrl } from '../../egress/mail-address.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import {
  earlyErrors,
  optionErrors,
  settingErrors,
  storedOptions,
} from '../../subscriptions/options/all-options.ts';
import { tokenUrlOf } from '../../subscriptions/options/auth.ts';
import { changedSecrets, firstSecrets, secretErrors } from '../../subscriptions/options/signatures.ts';
import { enabledAfter, enablingErrors } from '../../subscriptions/options/expires-at.ts';
import { isOfHeaders } from '../../subscriptions/options/headers.ts';
import { certificatesIn } from '../../subscriptions/options/tls.ts';
import { given } from '../../subscriptions/options/option.ts';
import { judgeUrl, urlErrors } from '../../subscriptions/options/url.ts';
import { verificationErrors } from '../../subscriptions/options/verification.ts';
import type { subscriptionInputSchema, subscriptionPatchSchema } from './schema.ts';
import { invalidValue, Problem, refuseAny } from '../shared/problem.ts';
import { areKnown, inUpperCase, statusProblem } from '../shared/statuses.ts';

/** Body of a registration, checked. */
export type SubscriptionInput = Static<typeof subscriptionInputSchema>;

/** Body of a change, checked. */
export type SubscriptionPatch = Static<typeof subscriptionPatchSchema>;

/**
 * Refuses a body with all its errors, those of the schema and those of its URL. The name in the URL is looked
 * up last, and only for a body without errors. For routes with `attachValidation`.
 */
export function createInputCheck({ checkUrl, checkMail, checkHost, snapshot, maxInFlight, now }: ApiDeps) {
  // Certificates of one request take up to five milliseconds, so those of many are checked in turns of their
  // own.
  let checked: Promise<unknown> = Promise.resolve();
  const ownTurn = () => (checked = checked.then(() => othersFirst()));

  // The counts are read only for statuses that the partner service is not known to use.
  async function statusErrors(account: string, body: unknown): Promise<FieldError[]> {
    const { statuses } = body as SubscriptionPatch;
    if (statuses == null || areKnown(statuses)) return [];
    const seen = Object.keys(await snapshot.counts(account));
    return statuses.flatMap((status, i) => {
      const problem = statusProblem(status, seen);
      return problem === null ? [] : { path: `statuses.${i}`, message: problem };
    });
  }

  return async (request: FastifyRequest): Promise<void> => {
    const fromSchema = schemaErrors(request.validationError);
    const url = urlOf(request.body, fromSchema);
    const isMail = url !== null && isMailUrl(url);
    const fromUrl = url === null ? [] : urlErrors(judgeUrl(url, isMail ? checkMail : checkUrl));
    const context = { checkUrl, maxInFlight, now: now() };
    const body = Object(request.body) as object;
    // The words of the policy for headers stand in place of the schema's.
    const others = fromSchema.filter(({ path }) => !isOfHeaders(path));
    const found = [...others, ...earlyErrors(body, fromSchema, context), ...fromUrl];
    // The schema's own problem may say that there are more errors than it lists.
    if (fromSchema.length > 0 && found.length === fromSchema.length) throw request.validationError;
    refuseAny(found);
    if (certificatesIn(body) > 0) await ownTurn();
    refuseAny(optionErrors(body, context));
    const { account } = request.params as { account: string };
    refuseAny(await statusErrors(account, body));
    const fromHost = url === null || isMail ? [] : urlErrors(await checkHost(url, account));
    const tokenUrl = tokenUrlOf(request.body);
    const fromTokenHost =
      tokenUrl === null ? [] : urlErrors(await checkHost(tokenUrl, account), 'auth.tokenUrl');
    refuseAny([...fromHost, ...fromTokenHost]);
  };
}

/**
 * A new subscription from a checked body; `now` is milliseconds on Redis's clock, `maker` the token of the
 * request, null for the operator's. Throws a Problem for a secret that would sign nothing.
 */
export function newSubscription(
  account: string,
  input: SubscriptionInput,
  now: number,
  maker: Pick<AccountToken, 'id' | 'subscriptions'> | null = null,
): Subscription {
  refuseAny(secretErrors(input));
  return {
    id: `sub_${randomBytes(16).toString('hex')}`,
    account,
    url: input.url,
    eventTypes: input.eventTypes ?? ['filing.*'],
    states: input.states ?? null,
    statuses: toStatuses(input.statuses ?? null),
    description: input.description ?? null,
    headers: {},
    format: input.format ?? 'standard',
    payload: input.payload ?? 'full',
    ...storedOptions(input, null),
    from: input.from ?? 'now',
    createdBy: maker?.id ?? null,
    ...(maker?.subscriptions === 'own' ? { confined: true } : {}),
    secrets: firstSecrets(input, now),
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * A subscription after a checked change, except for `from`. Fields that are left out stay. A new secret
 * replaces the former ones at once, and with `renewsKeys` new keys of ed25519 replace theirs. `release` means
 * that waiting events are attempted at once: the subscription was enabled, or its requests changed, so they
 * may succeed now. Throws a Problem for a secret that would sign nothing.
 */
export function applyPatch(
  record: SubscriptionRecord,
  patch: SubscriptionPatch,
  now: number,
  renewsKeys = false,
): SubscriptionChange {
  const { subscription, delivery, unreadable } = record;
  // Keys that cannot be read are lost with the settings that they are sealed with.
  const losesKeys = unreadable !== null && patch.headers !== undefined;
  refuseAny(secretErrors(patch, subscription));
  const changed: Subscription = {
    ...subscription,
    ...given(patch, 'url', 'eventTypes', 'states', 'description', 'format', 'payload'),
    ...(patch.statuses === undefined ? {} : { statuses: toStatuses(patch.statuses) }),
    ...storedOptions(patch, subscription),
    secrets: changedSecrets(subscription, patch, renewsKeys || losesKeys, now),
    updatedAt: now,
  };
  refuseAny(enablingErrors(patch, changed, now));
  const enabled = enabledAfter(delivery, patch);
  return {
    subscription: changed,
    ...(enabled === undefined ? {} : { enabled }),
    release: isCalledOtherwise(subscription, changed) || (enabled === true && !delivery.enabled),
  };
}

/**
 * Refuses settings that do not go together or are not permitted. `former` are those before a change, null for
 * a new subscription; `from` is the beginning that the request asks for.
 */
export function requireSound(
  { verificationRule }: Pick<ApiDeps, 'verificationRule'>,
  former: Subscription | null,
  settings: Subscription,
  from: Subscription['from'],
): void {
  requireSeenTypes(settings);
  requireSnapshots(settings, from);
  refuseAny(settingErrors(settings));
  refuseAny(verificationErrors(verificationRule, former, settings));
}

// Refuses a subscription that begins with snapshots and does not ask for them.
function requireSnapshots({ eventTypes }: Subscription, from: Subscription['from']): void {
  if (from !== 'state' || eventTypes.some((pattern) => matchesType(pattern, snapshotType))) return;
  const message = `"state" begins with events of the type ${snapshotType}: add it to eventTypes, or ask for filing.*`;
  throw invalidValue('from', message);
}

/** The same text for the same request, whatever the order of its fields. */
export function fingerprint(input: SubscriptionInput): string {
  return JSON.stringify(Object.entries(input).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function toStatuses(statuses: readonly string[] | null): readonly string[] | null {
  return statuses === null ? null : inUpperCase(statuses);
}

function schemaErrors(error: unknown): readonly FieldError[] {
  if (error === undefined || error === null) return [];
  if (error instanceof Problem) return error.errors;
  throw error;
}

function urlOf(body: unknown, known: readonly FieldError[]): string | null {
  const { url } = (body ?? {}) as { url?: unknown };
  return typeof url !== 'string' || known.some(({ path }) => path === 'url') ? null : url;
}

// Number of certificates from which on a request is dear: a chain of a few is not.
const manyCertificates = 10;

/** For the config of a route: a body with many certificates is dear. */
export function dearBody({ body }: FastifyRequest): Dear | null {
  return certificatesIn(body) >= manyCertificates ? 'scans' : null;
}
