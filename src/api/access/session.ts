import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { rights } from '../../accounts/token-store.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { type Caller, callerOf, type SignIn, tokenGone } from './auth.ts';
import { clearSessionCookie, modeOfRequest, sessionText, setSessionCookie } from './session-cookie.ts';
import * as s from '../shared/schema.ts';
import { invalidValue } from '../shared/problem.ts';
import { rightText } from '../shared/right.ts';

// Maximum bytes of the body of a sign-in, which a stranger sends.
const signInBytesMax = 4_096;

/** Signing in to the page, signing out, and what a token or session opens. */
export function addSessionRoutes(
  app: Api,
  { sessions, now, publicUrl = null, frameAncestors = [] }: ApiDeps,
  signIn: SignIn,
): void {
  app.get('/session', getSession, async (request) => viewOf(callerOf(request)));

  app.post('/session', createSession, async (request, reply) => {
    const { token, link } = request.body;
    const given = link ?? token;
    if (given === undefined || (token !== undefined && link !== undefined))
      throw invalidValue('token', 'must be given, or link in its place');
    const caller = await signIn(request, given, link === undefined ? 'token' : 'link');
    const made = await sessions.create(caller.kind === 'operator' ? null : caller.token, now());
    if (made === null) throw tokenGone();
    const asked = modeOfRequest(request) ?? 'page';
    const mode = asked === 'frame' && link !== undefined && frameAncestors.length > 0 ? 'frame' : 'page';
    await endFormer(request, mode);
    const maxAge = Math.ceil((made.session.endsAt - now()) / 1000);
    setSessionCookie(request, reply, { text: made.text, mode, maxAge, publicUrl });
    void reply.code(201);
    return viewOf({ ...caller, session: made.session });
  });

  app.delete('/session', deleteSession, async (request, reply) => {
    const session = callerOf(request)?.session;
    if (session !== undefined) {
      await sessions.remove(session);
      clearSessionCookie(request, reply, modeOfRequest(request) ?? 'page');
    }
    return reply.code(204).send(null);
  });

  // A browser has one session: the one before ends.
  async function endFormer(request: FastifyRequest, mode: 'page' | 'frame'): Promise<void> {
    const text = sessionText(request, mode);
    const former = text === null ? null : await sessions.find(text, now());
    if (former !== null) await sessions.remove(former);
  }
}

function viewOf(caller: Caller | null) {
  const token = caller?.kind === 'account' ? caller.token : null;
  return {
    kind: token === null ? 'operator' : 'account',
    account: token?.account ?? null,
    right: token?.right ?? 'manage',
    readOnly: token?.right === 'read',
    subscriptions: token?.subscriptions ?? 'all',
    expiresAt: isoOrNull(caller?.session?.endsAt ?? token?.expiresAt ?? 0),
  };
}

/** The account and the rights that the credentials of a request open. */
export const sessionSchema = s.shared('Session', {
  kind: s.oneOf(['operator', 'account'], { description: 'Whose credentials they are.' }),
  account: s.stringOrNull("The account that they open; null = the operator's open all.", {
    examples: ['default'],
  }),
  right: s.oneOf(rights, { description: rightText }),
  readOnly: s.boolean('Whether they may only read.'),
  subscriptions: s.oneOf(['all', 'own'], {
    description:
      'Which subscriptions they see and manage; with `own` only those made with them, and they change nothing else.',
  }),
  expiresAt: s.timeOrNull('They are invalid from then on; null = never.'),
});

const credential = (description: string, prefix: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      writeOnly: true,
      description,
      examples: [`${prefix}_8f14e45fceea167a5a36dedd4bea2543aabbccddeeff.default`],
    }),
  );

const sessionInputSchema = s.record({
  token: credential('The operator token or an account token.', 'fwa'),
  link: credential('In place of `token`: what follows `#/link/` in a link.', 'fwl'),
});

const getSession = s.operation({
  config: { anyToken: true },
  operationId: 'getSession',
  summary: 'What the token or session of this request opens',
  description: 'The account, the rights and their end.',
  response: { 200: s.answer(sessionSchema, 'What it opens.') },
});

const createSession = s.operation({
  bodyLimit: signInBytesMax,
  config: { signsIn: true },
  operationId: 'createSession',
  summary: 'Sign in to the page with a token or a link',
  description:
    'For the page. The session is a cookie out of reach of scripts; requests with it also need the header `x-filing-webhooks: page`. It ends after 12 hours without use, after 7 days, and with its token.',
  security: [],
  body: sessionInputSchema,
  response: { 201: s.answer(sessionSchema, 'What the session opens.', { 'set-cookie': 'The session.' }) },
});

const deleteSession = s.operation({
  config: { anyToken: true, signsOut: true },
  operationId: 'deleteSession',
  summary: 'Sign out of the page',
  description: 'Ends the session of this request. A token has none and stays valid.',
  response: { 204: { type: 'null', description: 'The session is invalid from now on.' } },
});
