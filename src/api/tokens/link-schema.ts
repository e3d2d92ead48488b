import { Type } from 'typebox';
import { accountParams, answer, bodyProblems, problems, record, time } from '../shared/schema.ts';

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
  tags: ['Tokens'],
  operationId: 'createLink',
  summary: 'Create a link that opens the page for this account',
  description:
    'The link opens the page without a token, for one account. It stands in the list of tokens, where it is revoked. Its secret is behind the `#`, which browsers send to no server.',
  params: Type.Object(accountParams),
  body: linkInputSchema,
  response: { 201: answer('Link', 'The link.'), ...problems(...bodyProblems) },
};
