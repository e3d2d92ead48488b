import { Type } from 'typebox';
import { answer, bodyProblems, nullable, oneOf, problems, record, timeOrNull } from '../shared/schema.ts';

/** The account and the rights that the credentials of a request open. */
export const sessionSchema = record(
  {
    kind: oneOf(['operator', 'account'], { description: 'Whose credentials they are.' }),
    account: nullable(Type.String(), {
      description: "The account that they open; null = the operator's open all.",
      examples: ['default'],
    }),
    readOnly: Type.Boolean({ description: 'Whether they may only read.' }),
    subscriptions: oneOf(['all', 'own'], {
      description:
        'Which subscriptions they see and manage; with `own` only those made with them, and they change nothing else.',
    }),
    expiresAt: timeOrNull('They are invalid from then on; null = never.'),
  },
  { $id: 'Session' },
);

const sessionInputSchema = record({
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      writeOnly: true,
      description: 'The operator token or an account token.',
      examples: ['fwa_8f14e45fceea167a5a36dedd4bea2543aabbccddeeff.default'],
    }),
  ),
  link: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      writeOnly: true,
      description: 'In place of `token`: what follows `#/link/` in a link.',
      examples: ['fwl_8f14e45fceea167a5a36dedd4bea2543aabbccddeeff.default'],
    }),
  ),
});

/** Request and responses of GET /v1/session. */
export const getSession = {
  tags: ['Session'],
  operationId: 'getSession',
  summary: 'What the token or session of this request opens',
  description: 'The kind of access, its account, whether it may change anything, and its expiry.',
  response: { 200: answer('Session', 'What it opens.'), ...problems() },
};

/** Request and responses of POST /v1/session. */
export const createSession = {
  tags: ['Session'],
  operationId: 'createSession',
  summary: 'Sign in to the page with a token or a link',
  description:
    'For the page. The session is a cookie out of reach of scripts; requests with it also need the header `x-filing-webhooks: page`. It ends after 12 hours without use, after 7 days, and with its token.',
  security: [],
  body: sessionInputSchema,
  response: {
    201: answer('Session', 'What the session opens.', { 'set-cookie': 'The session.' }),
    ...problems(...bodyProblems),
  },
};

/** Request and responses of DELETE /v1/session. */
export const deleteSession = {
  tags: ['Session'],
  operationId: 'deleteSession',
  summary: 'Sign out of the page',
  description: 'Ends the session of this request. A token has none and stays valid.',
  response: {
    204: { type: 'null', description: 'The session is invalid from now on.' },
    ...problems(),
  },
};
