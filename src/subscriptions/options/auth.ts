import { Type } from 'typebox';
import type { Static } from 'typebox';
import { callbackUrlLengthMax } from '../../egress/url-policy.ts';
import { nullable, oneOf, record } from '../../json/schema-parts.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import { maskedHeader } from './headers.ts';
import { hideUrlPath, judgeUrl, urlErrors, type UrlVerdict } from './url.ts';
import type { Option } from './option.ts';

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

// `auth` in requests.
const authInput = nullable(
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

/**
 * The credentials with which tokens for an endpoint are requested: the grant of client credentials (RFC 6749
 * §4.4).
 */
export type Auth = NonNullable<Static<typeof authSchema>>;

function partsOf(body: unknown): { readonly tokenUrl?: unknown; readonly clientSecret?: unknown } {
  const { auth: given } = Object(body) as { readonly auth?: unknown };
  return Object(given) as object;
}

/** The token endpoint that a body names, or null if it names none. */
export function tokenUrlOf(body: unknown): string | null {
  const { tokenUrl: url } = partsOf(body);
  return typeof url === 'string' ? url : null;
}

// The errors of `auth` in a body that the schema does not find; `known` are those of the schema.
function authErrors(
  body: unknown,
  known: readonly FieldError[],
  checkUrl: (url: string) => UrlVerdict,
): FieldError[] {
  const url = known.some(({ path }) => path === 'auth.tokenUrl') ? null : tokenUrlOf(body);
  const errors = url === null ? [] : urlErrors(judgeUrl(url, checkUrl), 'auth.tokenUrl');
  const message = `is ${maskedHeader}, which only hides it; give the secret itself`;
  const isHidden = partsOf(body).clientSecret === maskedHeader;
  return isHidden ? [...errors, { path: 'auth.clientSecret', message }] : errors;
}

// The errors of a subscription with credentials for tokens and a custom header Authorization: a callback has
// one of them.
function authorizationErrors({ auth, headers }: Pick<Subscription, 'auth' | 'headers'>): FieldError[] {
  const names = auth == null ? [] : Object.keys(headers);
  const message = 'is what `auth` sends: give either this header or `auth` (auth: null removes it)';
  return names
    .filter((each) => each.toLowerCase() === 'authorization')
    .map((name) => ({ path: `headers.${name}`, message }));
}

/** The setting as holders of read-only tokens see it: without the path of the token endpoint. */
export function hideTokenPath(auth: Static<typeof authSchema>): Static<typeof authSchema> {
  return auth === null ? null : { ...auth, tokenUrl: hideUrlPath(auth.tokenUrl) };
}

/** The option `auth`, sealed at rest. */
export const auth = {
  input: { auth: Type.Optional(authInput) },
  shown: { auth: authSchema },
  earlyErrors: (body, known, { checkUrl }) => authErrors(body, known, checkUrl),
  settingErrors: authorizationErrors,
  stored({ auth: given }: { readonly auth?: Static<typeof authInput> }): Pick<Subscription, 'auth'> {
    if (given == null) return given === undefined ? {} : { auth: null };
    return { auth: { scope: null, audience: null, clientAuthentication: 'basic', ...given } };
  },
  show: ({ auth: set }: Pick<Subscription, 'auth'>): { auth: Static<typeof authSchema> } => ({
    auth: set == null ? null : { ...set, clientSecret: maskedHeader },
  }),
} satisfies Option;
