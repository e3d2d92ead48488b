import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import type { Session } from '../../accounts/session-store.ts';
import { isLinkText, type AccountToken } from '../../accounts/token-store.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import { addressKey, createLimit, defaultLimits } from './limits.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { isOfSubscriptions } from './path-ids.ts';
import { modeOfRequest, refuseForeignOrigin, sessionText } from './session-cookie.ts';
import { notFound, Problem } from '../shared/problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Account tokens get 404 here. */
    operatorOnly?: boolean;
    /** Any valid token will do; the route shows each caller no more than it may see. */
    anyToken?: boolean;
    /** The token is in the body: the route checks it with what `addAuth` returns. */
    signsIn?: boolean;
    /** It only ends the session: the origin of the page need not be known. */
    signsOut?: boolean;
    /** The account in the path need not exist. */
    accountMayBeNew?: boolean;
    /** Not a route, only the response 405. */
    refusesMethod?: boolean;
    /** It changes nothing, whatever its method: read-only tokens may call it. */
    onlyReads?: boolean;
    /** It changes only what people note of filings: tokens with the right `triage` may call it. */
    triages?: boolean;
    /** No body is the same as `{}`. */
    bodyOptional?: boolean;
  }
}

/**
 * The caller of a request: the operator, or the holder of a token of one account; from the page in a session.
 */
export type Caller = (
  { readonly kind: 'operator' } | { readonly kind: 'account'; readonly token: AccountToken }
) & {
  readonly session?: Session;
};

/**
 * Checks the token or the link with which a request signs in, under the limits for all other tokens, and
 * makes its holder the caller of the request. Throws the Problem.
 */
export type SignIn = (request: FastifyRequest, text: string, kind: 'token' | 'link') => Promise<Caller>;

/** The facts of a request on which permission depends. */
export interface Access extends Pick<FastifyContextConfig, 'operatorOnly' | 'anyToken' | 'triages'> {
  /** The account in the path; null if there is none. */
  readonly account: string | null;
  readonly changes: boolean;
  /** Whether it is about subscriptions, of which a token may manage its own. */
  readonly ofSubscriptions?: boolean;
}

/**
 * The refusal of a request, or null; pure. A resource that an account token may not see looks the same as one
 * that does not exist, so the response shows nothing of other accounts.
 */
export function refusal(caller: Caller, access: Access): Problem | null {
  if (caller.kind === 'operator' || access.anyToken === true) return null;
  if (access.operatorOnly || access.account !== caller.token.account) {
    return new Problem('not_found', 'There is nothing here for this token; /docs lists all paths.');
  }
  const { right, subscriptions } = caller.token;
  if (access.changes && right === 'read') {
    return new Problem(
      'read_only_token',
      'This token may only read: use one that was made with the right manage, or triage for notes on filings.',
    );
  }
  if (right === 'triage') {
    if (!access.changes || access.triages === true) return null;
    return new Problem(
      'triage_only_token',
      'This token changes only what people note of filings: use one that was made with the right manage.',
    );
  }
  if (access.changes && subscriptions === 'own' && access.ofSubscriptions !== true) {
    return new Problem(
      'own_subscriptions_only',
      'This token manages only the subscriptions that it made: use one that was made without "subscriptions": "own".',
    );
  }
  return null;
}

/**
 * The token in an `Authorization` header, or null; pure. It allows more characters than RFC 6750 §2.1, as
 * API_TOKEN does.
 */
export function bearerToken(header: string | undefined): string | null {
  return /^bearer +([!-~]+)$/i.exec(header ?? '')?.[1] ?? null;
}

// Number of requests that a sign-in counts for: it looks through the sessions of its account.
const signInRequests = 10;
// Maximum number of tokens and sessions that are known to have been valid.
const workedMax = 10_000;

/**
 * Passes only requests that a token or session permits, before the body is read. If a request has both, the
 * token counts.
 */
export function addAuth(app: Api, deps: ApiDeps): SignIn {
  const operatorDigest = digest(deps.apiToken);
  const limits = { ...defaultLimits, ...deps.limits };
  const failures = createLimit(
    limits.failures,
    'Too many requests without a valid token came from your address.',
  );
  const ofToken = createLimit(limits.token, 'This token is used too often.');
  const ofAccount = createLimit(limits.account, 'The tokens of this account are used too often.');
  // Digests of what was valid before: strangers behind the same proxy cannot lock its holder out.
  const worked = createBoundedMap<string, true>(workedMax);

  async function callerWith(text: string, textDigest: Buffer): Promise<Caller | null> {
    if (timingSafeEqual(textDigest, operatorDigest)) return { kind: 'operator' };
    const token = await deps.tokens.find(text, deps.now());
    return token === null ? null : { kind: 'account', token };
  }

  async function callerIn(sessionOf: string): Promise<Caller | null> {
    const session = await deps.sessions.find(sessionOf, deps.now());
    if (session === null) return null;
    if (session.opens === null) return { kind: 'operator', session };
    const token = await deps.tokens.get(session.opens.account, session.opens.token, deps.now());
    return token === null ? null : { kind: 'account', token, session };
  }

  // The holder of what a request gave to prove itself; `find` is asked under the limits of its address.
  async function check(
    request: FastifyRequest,
    text: string | null,
    find: (text: string, textDigest: Buffer) => Promise<Caller | null>,
  ): Promise<Caller | null> {
    const textDigest = digest(text ?? '');
    const remembered = text === null ? null : textDigest.toString('base64');
    const address = addressKey(request.ip);
    if (remembered === null || worked.get(remembered) === undefined) await failures.check(address);
    if (text !== null) await refuseEmptied(deps, request.method);
    const caller = text === null ? null : await find(text, textDigest);
    if (caller === null || remembered === null) {
      if (remembered !== null) worked.delete(remembered);
      await failures.charge(address, 1);
      return null;
    }
    worked.set(remembered, true);
    return caller;
  }

  async function identify(request: FastifyRequest): Promise<{ caller: Caller; session: string | null }> {
    const { authorization } = request.headers;
    const mode = authorization === undefined ? modeOfRequest(request) : null;
    const session = mode === null ? null : sessionText(request, mode);
    if (session !== null && request.routeOptions.config.signsOut !== true)
      refuseForeignOrigin(request, deps.publicUrl ?? null);
    const token = bearerToken(authorization);
    const caller =
      session === null
        ? await check(request, token !== null && isLinkText(token) ? null : token, callerWith)
        : await check(request, session, callerIn);
    if (caller === null) throw unauthorized(authorization, session !== null);
    return { caller, session };
  }

  async function admit(request: FastifyRequest, caller: Caller): Promise<void> {
    request.setDecorator('caller', caller);
    if (caller.kind === 'operator') return;
    await ofToken.count(caller.token.id);
    await ofAccount.count(caller.token.account);
  }

  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.signsIn === true) return;
    const { caller, session } = await identify(request);
    await admit(request, caller);
    const access = accessOf(request);
    const refused = refusal(caller, access);
    if (refused !== null) throw refused;
    await rememberUse(deps, caller, session, request);
  });

  return async (request, text, kind) => {
    const fits = isLinkText(text) === (kind === 'link');
    const caller = await check(request, fits ? text : null, callerWith);
    if (caller === null) throw new Problem('unauthorized', signInRefused[kind]);
    await admit(request, caller);
    if (caller.kind === 'account') await ofToken.charge(caller.token.id, signInRequests - 1);
    return caller;
  };
}

const signInRefused = {
  token: 'This token is not known. It may be cut off, expired or revoked.',
  link: 'This link is not known. It has expired or was revoked; ask for a new one.',
} as const;

/** Refuses requests for an account that does not exist; runs after `addAuth`. */
export function addAccountCheck(app: Api, { accounts }: Pick<ApiDeps, 'accounts'>): void {
  app.addHook('onRequest', async (request) => {
    const { account } = accessOf(request);
    if (account === null || request.routeOptions.config.accountMayBeNew === true) return;
    if (await accounts.exists(account)) return;
    throw notFound('account_not_found');
  });
}

// Runs before tokens and accounts are looked up: an emptied store has none, and 401 or 404 would be wrong.
async function refuseEmptied({ storeProblem }: Pick<ApiDeps, 'storeProblem'>, method: string): Promise<void> {
  const reason = await storeProblem();
  if (reason !== null)
    throw new Problem(changesSomething(method) ? 'changes_refused' : 'store_emptied', reason);
}

/** Whether a method asks for a change. */
function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** The caller; null if no token was needed, or none was valid. */
export function callerOf(request: FastifyRequest): Caller | null {
  return request.getDecorator<Caller | null>('caller');
}

/** The token of the account with which a request came, also in a session; null for the operator's. */
export function tokenOf(request: FastifyRequest): AccountToken | null {
  const caller = callerOf(request);
  return caller?.kind === 'account' ? caller.token : null;
}

/**
 * Whether the caller may see what gives access to a receiver: the paths of callback URLs and the responses,
 * which may repeat them. A token without the right `manage` is made for those who look at filings.
 */
export function seesReceivers(request: FastifyRequest): boolean {
  const caller = callerOf(request);
  return caller?.kind === 'operator' || caller?.token.right === 'manage';
}

/** The caller as the log shows it; `none` if no token was needed. */
export function callerLabel(request: FastifyRequest): string {
  const caller = callerOf(request);
  if (caller === null) return 'none';
  return caller.kind === 'operator' ? 'operator' : caller.token.id;
}

function accessOf(request: FastifyRequest): Access {
  const { account = null } = request.params as { account?: string };
  const { url = '', config } = request.routeOptions;
  const { onlyReads, refusesMethod } = config;
  // A method that the path never takes is refused as such, whatever the token may do.
  const changes = refusesMethod !== true && onlyReads !== true && changesSomething(request.method);
  return { ...config, account, changes, ofSubscriptions: isOfSubscriptions(url) };
}

// Failures are only logged: a Redis that refuses writes must not prevent reads.
async function rememberUse(
  { tokens, sessions, now }: Pick<ApiDeps, 'tokens' | 'sessions' | 'now'>,
  caller: Caller,
  session: string | null,
  request: FastifyRequest,
): Promise<void> {
  try {
    if (caller.kind === 'account') await tokens.touch(caller.token, now());
    if (caller.session !== undefined && session !== null)
      await sessions.touch(session, caller.session, now());
  } catch (error) {
    request.log.debug({ error: String(error) }, 'token.use_not_noted');
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const ended = 'The session has ended. Sign in again, or send "Authorization: Bearer <token>".';
const unknown =
  'This token is not known here: it may be mistyped, revoked or expired, or belong to another daemon.';

/**
 * The problem of a request without a valid token; `authorization` is its header. An unknown, a revoked and an
 * expired token read the same. `hadSession` says that it had the cookie of a session in its place.
 */
function unauthorized(authorization: string | undefined, hadSession = false): Problem {
  // RFC 6750 §3.1: no error code for a request without any credentials.
  const challenge = `Bearer realm="filing-webhooks"${authorization === undefined ? '' : ', error="invalid_token"'}`;
  return new Problem('unauthorized', hadSession ? ended : faultOf(authorization), {
    headers: { 'www-authenticate': challenge },
  });
}

/** The same problem for a token that was valid when the request began, and is revoked since. */
export function tokenGone(): Problem {
  return unauthorized('Bearer gone');
}

function faultOf(authorization: string | undefined): string {
  const send = 'Send "Authorization: Bearer <token>" with the operator token or an account token.';
  if (authorization === undefined) return `There is no Authorization header. ${send}`;
  return bearerToken(authorization) === null
    ? `The Authorization header is not the word Bearer, a space and a token. ${send}`
    : unknown;
}
