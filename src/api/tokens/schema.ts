import { Type } from 'typebox';
import { instantOrNullSchema } from '../../json/instant.ts';
import {
  accountParams,
  answer,
  listOf,
  nullable,
  oneOf,
  pageQuery,
  record,
  time,
  timeOrNull,
} from '../shared/schema.ts';

/** Path of an account's token. */
const tokenParams = Type.Object({
  ...accountParams,
  id: Type.String({ description: 'Id of the token.', examples: ['tok_9f86d081884c7d65'] }),
});

/** Body of POST …/tokens; without a body the token has every default. */
export const tokenInputSchema = record({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      default: 'unnamed',
      description: 'The holder of the token.',
      examples: ['billing'],
    }),
  ),
  readOnly: Type.Optional(Type.Boolean({ default: false, description: 'Whether it may only read.' })),
  subscriptions: Type.Optional(
    oneOf(['all', 'own'], {
      default: 'all',
      description:
        '`own`: it sees and manages only the subscriptions that it made, reads the filings and events of the account, and changes nothing else. For a tool that registers its own endpoint.',
    }),
  ),
  expiresAt: Type.Optional(
    instantOrNullSchema(
      "In the future: the token is invalid from then on. Null = the end of the token that makes it; never for the operator's.",
    ),
  ),
});

const shown = {
  id: Type.String({ examples: ['tok_9f86d081884c7d65'] }),
  name: Type.String({ examples: ['billing'] }),
  readOnly: Type.Boolean(),
  link: Type.Boolean({
    description: 'Whether it is a link to the page; the API does not accept it as a token.',
  }),
  subscriptions: oneOf(['all', 'own'], {
    description: 'Which subscriptions it sees and manages: all of the account, or only those that it made.',
  }),
  parent: nullable(Type.String(), {
    description: 'Id of the token that made it, with which it is revoked; null = the operator made it.',
    examples: ['tok_2c26b46b68ffc68f'],
  }),
  createdAt: time('When it was created.'),
  expiresAt: timeOrNull('The token is invalid from then on; null = never.'),
  lastUsedAt: timeOrNull('When it was last used, to within five minutes.'),
};

/** A token as the API shows it; never its text. */
export const tokenSchema = record(shown, { $id: 'Token' });

/** Response of POST …/tokens. */
export const newTokenSchema = record(
  {
    ...shown,
    token: Type.String({ description: 'Shown only now: send it as `Authorization: Bearer`.' }),
    warnings: Type.Array(Type.String(), {
      description: 'Settings that were left out although a token should have them.',
    }),
  },
  { $id: 'NewToken' },
);

const inAccount = Type.Object(accountParams);

/** Request and responses of POST /v1/accounts/{account}/tokens. */
export const createToken = {
  operationId: 'createToken',
  summary: 'Create a token for everything under this account',
  description:
    'Answers the text of the token once. A token of the account may make others, which end with it.',
  params: inAccount,
  body: tokenInputSchema,
  response: { 201: answer('NewToken', 'The token with its text.') },
};

/** Request and responses of GET /v1/accounts/{account}/tokens. */
export const listTokens = {
  operationId: 'listTokens',
  summary: 'List tokens',
  description: 'Oldest first.',
  params: inAccount,
  querystring: record(pageQuery),
  response: {
    200: listOf(
      Type.Unsafe({ $ref: 'Token#' }),
      'Tokens and links, oldest first, expired ones included, never with their text.',
    ),
  },
};

/** Request and responses of DELETE /v1/accounts/{account}/tokens/{id}. */
export const deleteToken = {
  operationId: 'deleteToken',
  summary: 'Revoke a token and those that it made',
  description: 'At once. With `children=keep` the tokens that it made stay.',
  params: tokenParams,
  querystring: record({
    children: Type.Optional(
      oneOf(['revoke', 'keep'], {
        default: 'revoke',
        description:
          '`revoke`: all tokens that were made with it, and with those, are revoked too. `keep`: those that it made stay, as made by the token that made it.',
      }),
    ),
  }),
  response: {
    204: {
      type: 'null',
      description:
        'Revoked: it is invalid from now on; event streams that it opened end within a quarter of an hour.',
    },
  },
};

const day = 86_400_000;

/** Response of POST …/links. */
export const linkSchema = record(
  {
    id: Type.String({
      description: 'Id of its token: revoke it with DELETE …/tokens/{id}.',
      examples: ['tok_9f86d081884c7d65'],
    }),
    url: Type.String({
      format: 'uri',
      description: 'Opens the page, any number of times until it expires. Shown only now.',
      examples: ['https://filings.example.com/#/link/fwl_8f14e45fceea167a5a36dedd4bea2543aabb.default'],
    }),
    readOnly: Type.Boolean({ description: 'Whether it only shows the account.' }),
    expiresAt: time('The link, and what was opened with it, ends then.'),
  },
  { $id: 'Link' },
);

const linkInputSchema = record({
  expiresInMs: Type.Integer({
    minimum: 1_000,
    maximum: 366 * day,
    description: 'Milliseconds until the link expires. It ends with the token that makes it at the latest.',
    examples: [7 * day],
  }),
  readOnly: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether the page that it opens only shows the account.' }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      default: 'link',
      description: 'For whom it is, as the list of tokens shows it.',
      examples: ['Agency in Dallas'],
    }),
  ),
});

/** Request and responses of POST /v1/accounts/{account}/links. */
export const createLink = {
  operationId: 'createLink',
  summary: 'Create a link that opens the page for this account',
  description:
    'The link opens the page without a token, for one account. It stands in the list of tokens, where it is revoked. Its secret is behind the `#`, which browsers send to no server.',
  params: inAccount,
  body: linkInputSchema,
  response: { 201: answer('Link', 'The link.') },
};
