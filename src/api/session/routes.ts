import type { FastifyRequest } from 'fastify';
import { tokenGone } from '../shared/unauthorized.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { callerOf, type Caller, type SignIn } from '../access/auth.ts';
import {
  clearSessionCookie,
  modeOfRequest,
  sessionText,
  setSessionCookie,
} from '../access/session-cookie.ts';
import type { ApiDeps } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { invalidRequest } from '../shared/problem.ts';
import { createSession, deleteSession, getSession } from './schema.ts';

// Maximum bytes of the body of a sign-in, which a stranger sends.
const signInBytesMax = 4_096;

/** Signing in to the page, signing out, and what a token or session opens. */
export function addSessionRoutes(
  app: Api,
  { sessions, now, publicUrl = null, frameAncestors = [] }: ApiDeps,
  signIn: SignIn,
): void {
  app.get('/session', { config: { anyToken: true }, schema: getSession }, async (request) =>
    viewOf(callerOf(request)),
  );

  const signInOptions = {
    bodyLimit: signInBytesMax,
    config: { signsIn: true },
    schema: createSession,
  };
  app.post('/session', signInOptions, async (request, reply) => {
    const { token, link } = request.body;
    const given = link ?? token;
    if (given === undefined || (token !== undefined && link !== undefined))
      throw invalidRequest([{ path: 'token', message: 'must be given, or link in its place' }]);
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

  app.delete(
    '/session',
    { config: { anyToken: true, signsOut: true }, schema: deleteSession },
    async (request, reply) => {
      const session = callerOf(request)?.session;
      if (session !== undefined) {
        await sessions.remove(session);
        clearSessionCookie(request, reply, modeOfRequest(request) ?? 'page');
      }
      return reply.code(204).send(null);
    },
  );

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
    readOnly: token?.readOnly ?? false,
    subscriptions: token?.subscriptions ?? 'all',
    expiresAt: isoOrNull(caller?.session?.endsAt ?? token?.expiresAt ?? 0),
  };
}
