import { type Static, Type } from 'typebox';
import { type AccountToken, type MadeToken, rights, tokensMax } from '../accounts/token-store.ts';
import { instantMs, instantOrNullSchema, mustBeLater } from '../json/instant.ts';
import { tokenGone, tokenOf } from './access/auth.ts';
import type { ApiDeps, Api } from './deps.ts';
import { ownerOf } from './access/own-subscriptions.ts';
import * as s from './shared/schema.ts';
import { sendPage } from './shared/paging.ts';
import { invalidValue, notFound, Problem } from './shared/problem.ts';
import { rightIn, rightInput, rightText } from './shared/right.ts';

/** The tokens and links that open one account. */
export function addTokenRoutes(app: Api, { tokens, now, publicUrl = null }: ApiDeps): void {
  app.post('/tokens', createToken, async (request, reply) => {
    const { account } = request.params;
    const { name = 'unnamed', subscriptions = 'all', expiresAt } = request.body;
    const right = rightIn(request.body, 'manage');
    const maker = tokenOf(request);
    const end = endOf(instantMs(expiresAt), maker?.expiresAt ?? null, now());
    const settings = { name, right, subscriptions, expiresAt: end, parent: maker?.id ?? null };
    const { token, text } = orRefusal(await tokens.create(account, settings, now()));
    void reply.code(201);
    return { ...tokenView(token), token: text, warnings: warningsOf(request.body, token) };
  });

  app.get('/tokens', listTokens, async (request, reply) => {
    const { account } = request.params;
    return sendPage(request, reply, 'tokens', async (after, limit) => {
      const all = await tokens.list(account);
      // Its holder manages no tokens, so of these it sees its own.
      const owner = ownerOf(request);
      const shown = owner === null ? all : all.filter(({ id }) => id === owner);
      const following = shown.filter((token) => ageKey(token) > (after ?? ''));
      const page = following.slice(0, limit);
      const last = following.length > limit ? page.at(-1) : undefined;
      return {
        items: page.map(tokenView),
        next: last === undefined ? null : ageKey(last),
      };
    });
  });

  app.delete(
    '/tokens/:id',
    deleteToken,
    async ({ params: { account, id }, query: { children = 'revoke' } }, reply) => {
      if (await tokens.remove(account, id, children)) return reply.code(204).send(null);
      throw notFound('token_not_found');
    },
  );

  app.post('/links', createLink, async (request, reply) => {
    const { account } = request.params;
    const { expiresInMs, name = 'link' } = request.body;
    const right = rightIn(request.body, 'read');
    const maker = tokenOf(request);
    const expiresAt = Math.min(now() + expiresInMs, maker?.expiresAt ?? Infinity);
    const settings = { name, right, expiresAt, parent: maker?.id ?? null, link: true };
    const { token, text } = orRefusal(await tokens.create(account, settings, now()));
    const page = publicUrl ?? `${request.protocol}://${request.host}`;
    void reply.code(201);
    const shown = {
      id: token.id,
      url: `${page}/#/link/${text}`,
      right,
      readOnly: right === 'read',
      expiresAt,
    };
    return s.show(linkSchema, shown);
  });
}

/** The created token. Throws the Problem if there is none. */
function orRefusal(made: MadeToken): Extract<MadeToken, { kind: 'made' }> {
  if (made.kind === 'gone') throw notFound('account_not_found');
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
  if (asked !== null && asked <= now) throw invalidValue('expiresAt', mustBeLater(now));
  if (asked !== null && makersEndsAt !== null && asked > makersEndsAt)
    throw invalidValue('expiresAt', 'must not be later than the end of the token that makes the request');
  return asked ?? makersEndsAt;
}

function tokenView(token: AccountToken) {
  return s.show(tokenSchema, { ...token, readOnly: token.right === 'read' });
}

function ageKey({ createdAt, id }: AccountToken): string {
  return `${String(createdAt).padStart(15, '0')} ${id}`;
}

/** Warnings about settings that were left out of the request for a token; pure. */
function warningsOf(
  { name, right, readOnly, subscriptions, expiresAt }: Static<typeof tokenInputSchema>,
  token: AccountToken,
): string[] {
  return [
    ...(name === undefined ? ['It has no name, so the list does not show its holder: give `name`.'] : []),
    ...(right === undefined && readOnly === undefined && subscriptions !== 'own'
      ? ['It may change everything of the account: give `right`, or `subscriptions` for a tool.']
      : []),
    ...(expiresAt === undefined && token.expiresAt === null ? ['It never expires: give `expiresAt`.'] : []),
  ];
}

/** Path of an account's token. */
const tokenParams = Type.Object({
  ...s.accountParams,
  id: s.string('Id of the token.', { examples: ['tok_9f86d081884c7d65'] }),
});

/** Body of POST …/tokens; without a body the token has every default. */
const tokenInputSchema = s.record(
  s.optional({
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      default: 'unnamed',
      description: 'The holder of the token.',
      examples: ['billing'],
    }),
    ...rightInput,
    subscriptions: s.oneOf(['all', 'own'], {
      default: 'all',
      description:
        '`own`: it sees and manages only the subscriptions that it made, reads the filings and events of the account, and changes nothing else. For a tool that registers its own endpoint.',
    }),
    expiresAt: instantOrNullSchema(
      "In the future: the token is invalid from then on. Null = the end of the token that makes it; never for the operator's.",
    ),
  }),
);

const shown = {
  id: Type.String({ examples: ['tok_9f86d081884c7d65'] }),
  name: Type.String({ examples: ['billing'] }),
  right: s.oneOf(rights, { description: rightText }),
  readOnly: s.boolean('Whether it may only read.'),
  link: s.boolean('Whether it is a link to the page; the API does not accept it as a token.'),
  subscriptions: s.oneOf(['all', 'own'], {
    description: 'Which subscriptions it sees and manages: all of the account, or only those that it made.',
  }),
  parent: s.stringOrNull(
    'Id of the token that made it, with which it is revoked; null = the operator made it.',
    { examples: ['tok_2c26b46b68ffc68f'] },
  ),
  createdAt: s.time('When it was created.'),
  expiresAt: s.timeOrNull('The token is invalid from then on; null = never.'),
  lastUsedAt: s.timeOrNull('When it was last used, to within five minutes.'),
};

/** A token as the API shows it; never its text. */
export const tokenSchema = s.shared('Token', shown);

/** Response of POST …/tokens. */
const newTokenSchema = s.shared('CreatedToken', {
  ...shown,
  token: s.string('Shown only now: send it as `Authorization: Bearer`.'),
  warnings: Type.Array(Type.String(), {
    description: 'Settings that were left out although a token should have them.',
  }),
});

const day = 86_400_000;

/** Response of POST …/links. */
const linkSchema = s.shared('Link', {
  id: s.string('Id of its token: revoke it with DELETE …/tokens/{id}.', {
    examples: ['tok_9f86d081884c7d65'],
  }),
  url: Type.String({
    format: 'uri',
    description: 'Opens the page, any number of times until it expires. Shown only now.',
    examples: ['https://filings.example.com/#/link/fwl_8f14e45fceea167a5a36dedd4bea2543aabb.default'],
  }),
  right: s.oneOf(rights, { description: rightText }),
  readOnly: s.boolean('Whether it only shows the account.'),
  expiresAt: s.time('The link, and what was opened with it, ends then.'),
});

const linkInputSchema = s.record({
  expiresInMs: Type.Integer({
    minimum: 1_000,
    maximum: 366 * day,
    description: 'Milliseconds until the link expires. It ends with the token that makes it at the latest.',
    examples: [7 * day],
  }),
  ...s.optional({
    ...rightInput,
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      default: 'link',
      description: 'For whom it is, as the list of tokens shows it.',
      examples: ['Agency in Dallas'],
    }),
  }),
});

const createToken = s.operation({
  // An account that is full has all of its tokens looked through for links that have expired.
  config: { bodyOptional: true, dear: 'scans' },
  operationId: 'createToken',
  summary: 'Create a token for everything under this account',
  description:
    'Answers the text of the token once. A token of the account may make others, which end with it.',
  params: s.inAccount,
  body: tokenInputSchema,
  response: { 201: s.answer(newTokenSchema, 'The token with its text.') },
});

const listTokens = s.operation({
  // All tokens of the account are read for a page of them.
  config: { dear: 'scans' },
  operationId: 'listTokens',
  summary: 'List tokens',
  description: 'Oldest first.',
  params: s.inAccount,
  querystring: s.record(s.pageQuery),
  response: {
    200: s.listOf(
      tokenSchema,
      'Tokens and links, oldest first, expired ones included, never with their text.',
    ),
  },
});

const deleteToken = s.operation({
  operationId: 'deleteToken',
  summary: 'Revoke a token and those that it made',
  description: 'At once. With `children=keep` the tokens that it made stay.',
  params: tokenParams,
  querystring: s.record(
    s.optional({
      children: s.oneOf(['revoke', 'keep'], {
        default: 'revoke',
        description:
          '`revoke`: all tokens that were made with it, and with those, are revoked too. `keep`: those that it made stay, as made by the token that made it.',
      }),
    }),
  ),
  response: {
    204: {
      type: 'null',
      description:
        'Revoked: it is invalid from now on; event streams that it opened end within a quarter of an hour.',
    },
  },
});

const createLink = s.operation({
  config: { dear: 'scans' },
  operationId: 'createLink',
  summary: 'Create a link that opens the page for this account',
  description:
    'The link opens the page without a token, for one account. It stands in the list of tokens, where it is revoked. Its secret is behind the `#`, which browsers send to no server.',
  params: s.inAccount,
  body: linkInputSchema,
  response: { 201: s.answer(linkSchema, 'The link.') },
});
