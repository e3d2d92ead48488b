import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionChange } from '../../subscriptions/store/subscription-store.ts';
import { generateSecret, rotateSecrets } from '../../subscriptions/signing-secret.ts';
import { snapshotType } from '../../events/event-types.ts';
import { matchesType } from '../../subscriptions/matches-event.ts';
import { isCalledOtherwise } from '../../subscriptions/subscription.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import type { ApiDeps, UrlVerdict } from '../deps.ts';
import { invalidRequest, Problem } from '../shared/problem.ts';
import { areKnown, inUpperCase, statusProblem } from '../shared/statuses.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import { isHiddenUrl } from './hidden-url.ts';
import { headerErrors, textsOf } from './setting-problems.ts';
import type { subscriptionInputSchema, subscriptionPatchSchema } from './schema.ts';

/** Body of a registration, checked. */
export type SubscriptionInput = Static<typeof subscriptionInputSchema>;

/** Body of a change, checked. */
export type SubscriptionPatch = Static<typeof subscriptionPatchSchema>;

/**
 * Refuses a body with all its errors, those of the schema and those of its URL. The name in the URL is looked
 * up last, and only for a body without errors. A preHandler for routes with `attachValidation`.
 */
export function createInputCheck({
  checkUrl,
  checkHost,
  snapshot,
}: Pick<ApiDeps, 'checkUrl' | 'checkHost' | 'snapshot'>) {
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
    const fromUrl = url === null ? [] : urlErrors(isHiddenUrl(url) ? hidden : checkUrl(url));
    const headers = textsOf((request.body as { headers?: unknown } | null | undefined)?.headers);
    const fromHeaders = headers === null ? [] : headerErrors(headers);
    if (fromUrl.length + fromHeaders.length > 0) {
      // The words of the policy for headers stand in place of the schema's.
      const others = headers === null ? fromSchema : fromSchema.filter(({ path }) => !isOfHeaders(path));
      throw invalidRequest([...others, ...fromHeaders, ...fromUrl]);
    }
    // As it is: it may say that there are more errors than it lists.
    if (fromSchema.length > 0) throw request.validationError;
    const { account } = request.params as { account: string };
    const fromStatuses = await statusErrors(account, request.body);
    if (fromStatuses.length > 0) throw invalidRequest(fromStatuses);
    if (url === null) return;
    const fromHost = urlErrors(await checkHost(url, account));
    if (fromHost.length > 0) throw invalidRequest(fromHost);
  };
}

/** A new subscription from a checked body; `now` is milliseconds on Redis's clock. */
export function newSubscription(account: string, input: SubscriptionInput, now: number): Subscription {
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
    from: input.from ?? 'now',
    secrets: [{ text: input.secret ?? generateSecret(), expiresAt: null }],
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * A subscription after a checked change, except for `from`; pure. Fields that are left out stay. A new secret
 * replaces the former ones at once. `release` means that waiting events are attempted at once: the
 * subscription was enabled, or its requests changed, so they may succeed now.
 */
export function applyPatch(
  { subscription, delivery }: SubscriptionRecord,
  patch: SubscriptionPatch,
  now: number,
): SubscriptionChange {
  const { enabled, secret, statuses, from: _, ...fields } = patch;
  const secrets =
    secret === undefined ? subscription.secrets : rotateSecrets(subscription.secrets, secret, 0, now);
  const selected = statuses === undefined ? {} : { statuses: toStatuses(statuses) };
  const changed = { ...subscription, ...fields, ...selected, secrets, updatedAt: now };
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

const hidden: UrlVerdict = {
  ok: false,
  problem: 'it is as a read-only token shows it, without its path; give the URL itself',
};

function urlErrors(verdict: UrlVerdict): FieldError[] {
  return verdict.ok
    ? []
    : [
        {
          path: 'url',
          message: `is refused: ${verdict.problem.charAt(0).toLowerCase()}${verdict.problem.slice(1).replace(/\.$/, '')}`,
        },
      ];
}
