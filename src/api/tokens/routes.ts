import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type AccountToken, type MadeToken, tokensMax } from '../../accounts/token-store.ts';
import { instantMs, mustBeLater } from '../../json/instant.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { callerOf, tokenGone } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import type { ApiDeps } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import { headersOnly } from '../shared/headers-only.ts';
import { accountNotFound, tokenNotFound } from '../shared/not-found.ts';
import { invalidRequest, Problem } from '../shared/problem.ts';
import { pageLimit } from '../shared/schema.ts';
import { createLink, createToken, deleteToken, listTokens, type tokenInputSchema } from './schema.ts';
import { ownerOf } from './own-subscriptions.ts';

/** The tokens that open one account. */
export function addTokenRoutes(app: Api, { tokens, now }: ApiDeps): void {
  // An account that is full has all of its tokens looked through for links that have expired.
  const posted = { schema: createToken, config: { bodyOptional: true, dear: 'scans' } } as const;
  app.post('/accounts/:account/tokens', posted, async (request, reply) => {
    const { account } = request.params;
    const { name = 'unnamed', readOnly = false, subscriptions = 'all', expiresAt } = request.body;
    const maker = makerOf(request);
    const end = endOf(instantMs(expiresAt), maker?.expiresAt ?? null, now());
    const settings = { name, readOnly, subscriptions, expiresAt: end, parent: maker?.id ?? null };
    const { token, text } = orRefusal(await tokens.create(account, settings, now()));
    void reply.code(201);
    return { ...tokenView(token), token: text, warnings: warningsOf(request.body, token) };
  });

  const listed = { config: { dear: kindOfList }, schema: listTokens } as const;
  app.get('/accounts/:account/tokens', listed, async (request, reply) => {
    const { method, params, query } = request;
    const { account } = params;
    const { limit = pageLimit, cursor } = query;
    const after = decodeCursor('tokens', cursor) ?? '';
    if (method === 'HEAD') return headersOnly(reply);
    const all = await tokens.list(account);
    // Its holder manages no tokens, so of these it sees its own.
    const owner = ownerOf(request);
    const shown = owner === null ? all : all.filter(({ id }) => id === owner);
    const following = shown.filter((token) => ageKey(token) > after);
    const page = following.slice(0, limit);
    const last = following.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(tokenView),
      nextCursor: last === undefined ? null : encodeCursor('tokens', ageKey(last)),
    };
  });

  app.delete(
    '/accounts/:account/tokens/:id',
    { schema: deleteToken },
    async ({ params: { account, id }, query: { children = 'revoke' } }, reply) => {
      if (await tokens.remove(account, id, children)) return reply.code(204).send(null);
      throw tokenNotFound();
    },
  );
}

// All tokens of the account are read for a page of them.
function kindOfList({ method }: FastifyRequest): Dear | null {
  return method === 'HEAD' ? null : 'scans';
}

/** The token with which a request makes another one; null = the operator's. */
export function makerOf(request: FastifyRequest): AccountToken | null {
  const caller = callerOf(request);
  return caller?.kind === 'account' ? caller.token : null;
}

/**
 * The token that was made; throws the Problem where none was.
 */
function orRefusal(made: MadeToken): Extract<MadeToken, { kind: 'made' }> {
  if (made.kind === 'gone') throw accountNotFound();
  if (made.kind === 'revoked') throw tokenGone();
  if (made.kind === 'full')
    throw new Problem('too_many_tokens', `An account has at most ${tokensMax} tokens: revoke some.`);
  return made;
}

/**
 * The time at which a new token expires; pure. It does not outlive the token that makes it: otherwise the
 * holder of a token for a week could have one for ever.
 */
function endOf(asked: number | null, makersEndsAt: number | null, now: number): number | null {
  if (asked !== null && asked <= now) {
    throw invalidRequest([{ path: 'expiresAt', message: mustBeLater(now) }]);
  }
  if (asked !== null && makersEndsAt !== null && asked > makersEndsAt) {
    throw invalidRequest([
      { path: 'expiresAt', message: 'must not be later than the end of the token that makes the request' },
    ]);
  }
  return asked ?? makersEndsAt;
}

function tokenView({ id, name, readOnly, link, subscriptions, parent, ...times }: AccountToken) {
  const { createdAt, expiresAt, lastUsedAt } = times;
  return {
    id,
    name,
    readOnly,
    link,
    subscriptions,
    parent,
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: isoOrNull(expiresAt ?? 0),
    lastUsedAt: isoOrNull(lastUsedAt ?? 0),
  };
}

function ageKey({ createdAt, id }: AccountToken): string {
  return `${String(createdAt).padStart(15, '0')} ${id}`;
}

/** Warnings about settings that were left out of the request for a token; pure. */
function warningsOf(
  { name, readOnly, subscriptions, expiresAt }: Static<typeof tokenInputSchema>,
  token: AccountToken,
): string[] {
  return [
    ...(name === undefined ? ['It has no name, so the list does not show its holder: give `name`.'] : []),
    ...(readOnly === undefined && subscriptions !== 'own'
      ? ['It may change everything of the account: give `readOnly`, or `subscriptions` for a tool.']
      : []),
    ...(expiresAt === undefined && token.expiresAt === null ? ['It never expires: give `expiresAt`.'] : []),
  ];
}

/** Links that open the page for one account. */
export function addLinkRoutes(app: Api, { tokens, now, publicUrl = null }: ApiDeps): void {
  app.post(
    '/accounts/:account/links',
    { config: { dear: 'scans' }, schema: createLink },
    async (request, reply) => {
      const { account } = request.params;
      const { expiresInMs, readOnly = true, name = 'link' } = request.body;
      const maker = makerOf(request);
      const expiresAt = Math.min(now() + expiresInMs, maker?.expiresAt ?? Infinity);
      const settings = { name, readOnly, expiresAt, parent: maker?.id ?? null, link: true };
      const { token, text } = orRefusal(await tokens.create(account, settings, now()));
      const page = publicUrl ?? `${request.protocol}://${request.host}`;
      void reply.code(201);
      return {
        id: token.id,
        url: `${page}/#/link/${text}`,
        readOnly,
        expiresAt: new Date(expiresAt).toISOString(),
      };
    },
  );
}
