import { Type } from 'typebox';
import { accountParams, answer, bodyProblems, pageQuery, problems, record } from '../shared/schema.ts';
import { tokenInputSchema, tokenListSchema, tokenParams } from './schema.ts';

const inAccount = Type.Object(accountParams);

/** What POST /v1/accounts/{account}/tokens takes and answers. */
export const createToken = {
  tags: ['Tokens'],
  operationId: 'createToken',
  summary: 'Make a token for everything under this account',
  params: inAccount,
  body: tokenInputSchema,
  response: { 201: answer('NewToken', 'The token with its text.'), ...problems(...bodyProblems) },
};

/** What GET /v1/accounts/{account}/tokens takes and answers. */
export const listTokens = {
  tags: ['Tokens'],
  operationId: 'listTokens',
  summary: 'List tokens',
  params: inAccount,
  querystring: record(pageQuery),
  response: { 200: tokenListSchema, ...problems(422) },
};

/** What DELETE /v1/accounts/{account}/tokens/{id} takes and answers. */
export const deleteToken = {
  tags: ['Tokens'],
  operationId: 'deleteToken',
  summary: 'Revoke a token',
  params: tokenParams,
  response: {
    204: {
      type: 'null',
      description:
        'Revoked: it opens nothing from now on; event streams that it opened end within a quarter of an hour.',
    },
    ...problems(403),
  },
};
