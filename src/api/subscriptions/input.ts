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
import { limitsOf } from '../../subscriptions/settings/limits.ts';
import { verificationOf, withFormerProof } from '../../subscriptions/options/verification.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { ApiDeps } from '../deps.ts';
import { invalidRequest, Problem, refuseAny } from '../shared/problem.ts';
import { areKnown, inUpperCase, statusProblem } from '../shared/statuses.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import { authErrors, authOf, tokenUrlOf } from './settings/auth.ts';
import { changedSecrets, newSecrets, signatureSetting } from './settings/signatures.ts';
import {
  enabledAfter,
  enablingErrors,
  expiryErrors,
  expiryOf,
} from '../../subscriptions/options/expires-at.ts';
import { limitErrors } from './settings/limits.ts';
import { certificatesIn, tlsErrors, tlsOf } from '../../subscriptions/options/tls.ts';
import { headerErrors, textsOf } from './setting-problems.ts';
import { filterErrors } from './settings/filter.ts';
import { judgeUrl, urlErrors } from './settings/url-problems.ts';
import type { subscriptionInputSchema, subscriptionPatchSchema } from './schema.ts';

/** Body of a registration, checked. */
export type SubscriptionInput = Static<typeof subscriptionInputSchema>;

/** Body of a change, checked. */
export type SubscriptionPatch = Static<typeof subscriptionPatchSchema>;

/**
 * Refuses a body with all its errors, those of the schema and those of its URL. The name in the URL is looked
 * up last, and only for a body without errors. For routes with `attachValidation`.
 */
export function createInputCheck({
  checkUrl,
  checkHost,
  snapshot,
  maxInFlight,
  now,
}: Pick<ApiDeps, 'checkUrl' | 'checkHost' | 'snapshot' | 'maxInFlight' | 'now'>) {
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
    const fromUrl = url === null ? [] : urlErrors(judgeUrl(url, checkUrl));
    const headers = textsOf((request.body as { headers?: unknown } | null | undefined)?.headers);
    const fromHeaders = headers === null ? [] : headerErrors(headers);
    const fromAuth = authErrors(request.body, fromSchema, checkUrl);
    if (fromUrl.length + fromHeaders.length + fromAuth.length > 0) {
      // The words of the policy for headers stand in place of the schema's.
      const others = headers === null ? fromSchema : fromSchema.filter(({ path }) => !isOfHeaders(path));
      throw invalidRequest([...others, ...fromHeaders, ...fromUrl, ...fromAuth]);
    }
    // As it is: it may say that there are more errors than it lists.
    if (fromSchema.length > 0) throw request.validationError;
    const fromFilter = filterErrors((request.body as SubscriptionPatch).filter);
    if (fromFilter.length > 0) throw invalidRequest(fromFilter);
    if (certificatesIn(request.body) > 0) await ownTurn();
    const fromTls = tlsErrors((request.body as SubscriptionPatch).tls, now());
    if (fromTls.length > 0) throw invalidRequest(fromTls);
    const fromLimits = limitErrors(request.body, maxInFlight);
    if (fromLimits.length > 0) throw invalidRequest(fromLimits);
    const fromExpiry = expiryErrors(request.body as SubscriptionPatch, now());
    if (fromExpiry.length > 0) throw invalidRequest(fromExpiry);
    const { account } = request.params as { account: string };
    const fromStatuses = await statusErrors(account, request.body);
    if (fromStatuses.length > 0) throw invalidRequest(fromStatuses);
    const fromHost = url === null ? [] : urlErrors(await checkHost(url, account));
    const tokenUrl = tokenUrlOf(request.body);
    const fromTokenHost =
      tokenUrl === null ? [] : urlErrors(await checkHost(tokenUrl, account), 'auth.tokenUrl');
    if (fromHost.length + fromTokenHost.length > 0) throw invalidRequest([...fromHost, ...fromTokenHost]);
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
  return {
    id: `sub_${randomBytes(16).toString('hex')}`,
    account,
    url: input.url,
    eventTypes: input.eventTypes ?? ['filing.*'],
    states: input.states ?? null,
    statuses: toStatuses(input.statuses ?? null),
    description: input.description ?? null,
    headers: input.headers ?? {},
    format: input.format ?? 'standard',
    payload: input.payload ?? 'full',
    ...(input.filter == null ? {} : { filter: input.filter }),
    ...signatureSetting(input),
    ...authOf(input),
    ...tlsOf(input),
    ...limitsOf(input),
    ...verificationOf(input),
    ...expiryOf(input),
    from: input.from ?? 'now',
    createdBy: maker?.id ?? null,
    ...(maker?.subscriptions === 'own' ? { confined: true } : {}),
    secrets: newSecrets(input, now),
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
  const { subscription, delivery } = record;
  const {
    enabled: _enabled,
    secret: _secret,
    statuses,
    signatures: _signatures,
    from: _from,
    auth: _auth,
    tls: _tls,
    expiresAt: _expiresAt,
    ...fields
  } = patch;
  const secrets = changedSecrets(subscription, patch, renewsKeys, now);
  const selected = statuses === undefined ? {} : { statuses: toStatuses(statuses) };
  const complete = {
    ...subscription,
    ...fields,
    ...selected,
    ...signatureSetting(patch, subscription),
    ...authOf(patch),
    ...tlsOf(patch),
    ...expiryOf(patch),
    secrets,
    updatedAt: now,
  };
  const changed = withFormerProof(complete, subscription);
  refuseAny(enablingErrors(patch, changed, now));
  const enabled = enabledAfter(delivery, patch);
  return {
    subscription: changed,
    ...(enabled === undefined ? {} : { enabled }),
    release: isCalledOtherwise(subscription, changed) || (enabled === true && !delivery.enabled),
  };
}

/** Refuses a subscription that begins with snapshots and does not ask for them. */
export function requireSnapshots(
  { eventTypes }: Pick<Subscription, 'eventTypes'>,
  from: Subscription['from'],
): void {
  if (from !== 'state' || eventTypes.some((pattern) => matchesType(pattern, snapshotType))) return;
  const message = `"state" begins with events of the type ${snapshotType}: add it to eventTypes, or ask for filing.*`;
  throw invalidRequest([{ path: 'from', message }]);
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

function isOfHeaders(path: string): boolean {
  return path === 'headers' || path.startsWith('headers.');
}

function urlOf(body: unknown, known: readonly FieldError[]): string | null {
  const { url } = (body ?? {}) as { url?: unknown };
  return typeof url !== 'string' || known.some(({ path }) => path === 'url') ? null : url;
}
