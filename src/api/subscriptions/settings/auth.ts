import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { Auth } from '../../../subscriptions/settings/auth.ts';
import { callbackUrlLengthMax } from '../../../egress/url-policy.ts';
import type { ReadSubscription } from '../../../subscriptions/store/stored-subscription.ts';
import type { Subscription } from '../../../subscriptions/subscription.ts';
import type { FieldError } from '../../../json/validation-problems.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalidRequest } from '../../shared/problem.ts';
import { nullable, oneOf, record } from '../../shared/schema.ts';
import { hideUrlPath } from '../hidden-url.ts';
import { maskedHeader } from '../setting-problems.ts';
import { judgeUrl, urlErrors } from './url-problems.ts';

const tokenUrl = Type.String({
  minLength: 1,
  maxLength: callbackUrlLengthMax,
  description: 'The token endpoint; the rules for `url` hold for it, too.',
  examples: ['https://login.example.com/oauth2/token'],
});

const clientId = Type.String({ minLength: 1, maxLength: 1024, examples: ['filing-webhooks'] });

const scope = nullable(Type.String({ minLength: 1, maxLength: 2048 }), {
  description: 'Names of scopes with spaces between them; null asks for none.',
  examples: ['filings.write'],
});

const audience = nullable(Type.String({ minLength: 1, maxLength: 2048 }), {
  description: 'Whom the token is for, where the token endpoint wants to know; null says nothing.',
  examples: ['https://example.com/hooks'],
});

const clientAuthentication = oneOf(['basic', 'post'], {
  description:
    '`basic` sends id and secret of the client in the header Authorization (RFC 6749 §2.3.1), `post` in the body.',
});

const type = oneOf(['oauth2']);

const description =
  'Callbacks carry a token (`Authorization: Bearer …`) that is requested with these client credentials (OAuth 2.0); null = none. Replaced as a whole.';

/** `auth` in requests. */
export const authInputSchema = nullable(
  record({
    type,
    tokenUrl,
    clientId,
    clientSecret: Type.String({ minLength: 1, maxLength: 4096, description: 'Never shown again.' }),
    scope: Type.Optional(scope),
    audience: Type.Optional(audience),
    clientAuthentication: Type.Optional({ ...clientAuthentication, default: 'basic' }),
  }),
  { description },
);

/** `auth` in responses. */
export const authSchema = nullable(
  record({
    type,
    tokenUrl: { ...tokenUrl, description: 'The token endpoint; its origin alone for a read-only token.' },
    clientId,
    clientSecret: Type.String({ description: `Always \`${maskedHeader}\`.`, examples: [maskedHeader] }),
    scope,
    audience,
    clientAuthentication,
  }),
  { description },
);

/** The token endpoint that a body names; null where there is none. */
export function tokenUrlOf(body: unknown): string | null {
  const { auth } = (body ?? {}) as { auth?: { tokenUrl?: unknown } | null };
  const { tokenUrl: url } = typeof auth === 'object' && auth !== null ? auth : {};
  return typeof url === 'string' ? url : null;
}

/** The errors of `auth` in a body that the schema does not find; `known` are those of the schema. */
export function authErrors(
  body: unknown,
  known: readonly FieldError[],
  checkUrl: ApiDeps['checkUrl'],
): FieldError[] {
  const url = tokenUrlOf(body);
  const isKnown = known.some(({ path }) => path === 'auth.tokenUrl');
  const fromUrl = url === null || isKnown ? [] : urlErrors(judgeUrl(url, checkUrl), 'auth.tokenUrl');
  const { auth } = (body ?? {}) as { auth?: { clientSecret?: unknown } | null };
  if (auth?.clientSecret !== maskedHeader) return fromUrl;
  const message = `is ${maskedHeader}, which only hides it; give the secret itself`;
  return [...fromUrl, { path: 'auth.clientSecret', message }];
}

/**
 * Refuses a subscription with credentials for tokens and a custom header Authorization: a callback has one of
 * them.
 */
export function requireOneAuthorization({ auth, headers }: Pick<Subscription, 'auth' | 'headers'>): void {
  const name =
    auth == null ? undefined : Object.keys(headers).find((each) => each.toLowerCase() === 'authorization');
  if (name === undefined) return;
  const message = 'is what `auth` sends: give either this header or `auth` (auth: null removes it)';
  throw invalidRequest([{ path: `headers.${name}`, message }]);
}

/**
 * Refuses a change of one of `auth` and `tls` where they cannot be read: the other one would be lost without
 * a word.
 */
export function requireBothAnew(
  { hasUnreadableSettings = false }: Pick<ReadSubscription, 'hasUnreadableSettings'>,
  patch: { readonly auth?: unknown; readonly tls?: unknown },
): void {
  if (!hasUnreadableSettings || (patch.auth === undefined) === (patch.tls === undefined)) return;
  const [given, other] = patch.auth === undefined ? (['tls', 'auth'] as const) : (['auth', 'tls'] as const);
  const message = `cannot be changed alone while the stored settings cannot be read: give ${other} as well (null = none)`;
  throw invalidRequest([{ path: given, message }]);
}

type AuthInput = Static<typeof authInputSchema>;

/** The setting from a checked body; no property where the body does not name it. */
export function authOf({ auth }: { readonly auth?: AuthInput }): { readonly auth?: Auth | null } {
  if (auth === undefined || auth === null) return auth === undefined ? {} : { auth };
  const { scope: asked = null, audience: whom = null, clientAuthentication: way = 'basic', ...rest } = auth;
  return { auth: { ...rest, scope: asked, audience: whom, clientAuthentication: way } };
}

/** The setting as holders of read-only tokens see it: without the path of the token endpoint. */
export function hideTokenPath(auth: Static<typeof authSchema>): Static<typeof authSchema> {
  return auth === null ? null : { ...auth, tokenUrl: hideUrlPath(auth.tokenUrl) };
}

/** The setting as the API shows it: without the secret of the client. */
export function authView(auth: Auth | null | undefined): Static<typeof authSchema> {
  if (auth == null) return null;
  return { ...auth, clientSecret: maskedHeader };
}
