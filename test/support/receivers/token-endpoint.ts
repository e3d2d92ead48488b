import { OAuth2Server } from 'oauth2-mock-server';
import type { MutableResponse, TokenRequestIncomingMessage } from 'oauth2-mock-server';
import type { Callback } from './receiver.ts';

/** A request for a token as it arrived. */
export interface TokenRequest {
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The answer to a request for a token. */
export interface TokenResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An authorization server on loopback that knows one client and does as it is told. */
export interface TokenEndpoint extends AsyncDisposable {
  /** Settings of a subscription to an endpoint that wants its tokens. */
  readonly auth: {
    readonly type: 'oauth2';
    readonly tokenUrl: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scope: string;
  };
  readonly requests: readonly TokenRequest[];
  /** Tokens that it has granted, the oldest first. */
  readonly granted: readonly string[];
  /** The tokens that `accepts` accepts from now on: all that were granted, or those granted from now on. */
  revokeAll(): void;
  /** Whether a callback carries a token that is not revoked. */
  accepts(callback: Pick<Callback, 'headers'>): boolean;
  /** Seconds of the lifetime of tokens from now on; undefined tells none. */
  lifetime(seconds: number | undefined): void;
  /** Answers every request from now on like this; null grants tokens again. */
  answer(response: TokenResponse | null): void;
  /** Stops listening; `start` brings it back on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const [clientId, clientSecret] = ['the client', 'canary: secret%of+the/client'];
const scope = 'filings.write';

/** Starts one on a free port. It grants tokens for an hour. */
export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const requests: TokenRequest[] = [];
  const granted: string[] = [];
  const revoked = new Set<string>();
  let seconds: number | undefined = 3_600;
  let told: TokenResponse | null = null;
  let server = await open(0);
  const { port } = server.address();

  async function open(at: number): Promise<OAuth2Server> {
    const opened = new OAuth2Server();
    await opened.issuer.keys.generate('ES256');
    opened.service.on('beforeTokenSigning', ({ payload }) =>
      Object.assign(payload, { jti: requests.length }),
    );
    opened.service.on('beforeResponse', respond);
    await opened.start(at, '127.0.0.1');
    return opened;
  }

  function respond(response: MutableResponse, request: TokenRequestIncomingMessage): void {
    const { authorization } = request.headers;
    const body = request.body as unknown as Record<string, unknown>;
    requests.push({ authorization, body });
    if (told !== null) {
      refuse(response, told.status, told.body);
      const { res } = request as unknown as { res: { set(headers: object): void } };
      res.set({ ...told.headers });
    } else if (!isClient(authorization, body)) refuse(response, 401, { error: 'invalid_client' });
    else if (body['scope'] !== undefined && body['scope'] !== scope)
      refuse(response, 400, { error: 'invalid_scope', error_description: `canary: ${clientSecret}` });
    else {
      Object.assign(response.body, { expires_in: seconds });
      granted.push(String((response.body as Record<string, unknown>)['access_token']));
    }
  }

  return {
    auth: { type: 'oauth2', tokenUrl: `http://127.0.0.1:${port}/token`, clientId, clientSecret, scope },
    requests,
    granted,
    revokeAll() {
      for (const token of granted) revoked.add(token);
    },
    accepts({ headers }) {
      const token = String(headers['authorization']).replace(/^Bearer /, '');
      return granted.includes(token) && !revoked.has(token);
    },
    lifetime(next) {
      seconds = next;
    },
    answer(response) {
      told = response;
    },
    stop: () => server.stop(),
    async start() {
      server = await open(port);
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await server.stop();
    },
  };
}

function refuse(response: MutableResponse, status: number, body: Record<string, unknown>): void {
  response.statusCode = status;
  response.body = body;
}

// RFC 6749 §2.3.1: both parts are form-encoded first.
function isClient(authorization: string | undefined, body: Readonly<Record<string, unknown>>): boolean {
  if (authorization === undefined)
    return body['client_id'] === clientId && body['client_secret'] === clientSecret;
  const [id = '', secret = ''] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  return decoded(id) === clientId && decoded(secret) === clientSecret;
}
