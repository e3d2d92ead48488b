import { Type } from 'typebox';
import { accountParams, listOf, record, time, timeOrNull } from '../shared/schema.ts';
import { instantOrNullSchema } from '../shared/instant.ts';

/** Path of an account's token. */
export const tokenParams = Type.Object({
  ...accountParams,
  id: Type.String({ description: 'Id of the token.', examples: ['tok_9f86d081884c7d65'] }),
});

/** Body of POST …/tokens; none at all makes a token with every default. */
export const tokenInputSchema = record({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      default: 'unnamed',
      description: 'Whose token it is.',
      examples: ['billing'],
    }),
  ),
  readOnly: Type.Optional(Type.Boolean({ default: false, description: 'Whether it may only read.' })),
  expiresAt: Type.Optional(
    instantOrNullSchema(
      "It opens nothing from then on; null = when the token ends with which it is made, never where that is the operator's.",
    ),
  ),
});

const shown = {
  id: Type.String({ examples: ['tok_9f86d081884c7d65'] }),
  name: Type.String({ examples: ['billing'] }),
  readOnly: Type.Boolean(),
  createdAt: time('When it was made.'),
  expiresAt: timeOrNull('It opens nothing from then on; null = never.'),
  lastUsedAt: timeOrNull('When it was last used, to within five minutes.'),
};

/** A token as the API shows it; never its text. */
export const tokenSchema = record(shown, { $id: 'Token' });

/** Answer of POST …/tokens. */
export const newTokenSchema = record(
  { ...shown, token: Type.String({ description: 'Shown only now: send it as `Authorization: Bearer`.' }) },
  { $id: 'NewToken' },
);

/** Answer of GET …/tokens. */
export const tokenListSchema = listOf(Type.Unsafe({ $ref: 'Token#' }), 'Tokens, oldest first.');
