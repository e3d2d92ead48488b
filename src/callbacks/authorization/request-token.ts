import {
  allowInsecureRequests,
  clientCredentialsGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  processClientCredentialsResponse,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import type { Auth } from '../../subscriptions/settings/auth.ts';
import type { CallbackClient } from '../callback-client.ts';
import { bodyBytesMax } from '../exchange.ts';
import type { CallbackResult } from '../result.ts';
import { tokenTimes, type TokenAnswer } from './access-token.ts';
import { failureOfResult, failureOfToken } from './token-failure.ts';

export interface TokenRequestDeps {
  /** The client of the callbacks: its rules for URLs and addresses hold for token endpoints, too. */
  readonly client: CallbackClient;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Requests a token of a token endpoint, once. Rejects only when the client is closed. */
export type RequestToken = (account: string, auth: Auth) => Promise<TokenAnswer>;

/** Maximum milliseconds of a request for a token, whatever DELIVERY_TIMEOUT_MS is. */
export const tokenRequestMsMax = 8_000;

// Maximum characters of a token: with more, most receivers refuse the headers of the request.
const tokenLengthMax = 8_192;

/**
 * Requests tokens by the grant of client credentials (RFC 6749 §4.4). Redirects are not followed, and at most
 * 16 KiB of an answer are read.
 */
export function createTokenRequest({ client, now, random }: TokenRequestDeps): RequestToken {
  return async (account, auth) => {
    const requestedAt = now();
    const answers: CallbackResult[] = [];
    let granted: TokenEndpointResponse;
    try {
      granted = await grant(auth, async (body, headers) => {
        const result = await client.post({
          url: auth.tokenUrl,
          headers,
          body,
          account,
          timeoutMsMax: tokenRequestMsMax,
          excerptBytesMax: bodyBytesMax,
        });
        answers.push(result);
        return toResponse(result);
      });
    } catch (error) {
      const [result] = answers;
      if (result === undefined) throw error;
      if (result.kind === 'failure' && isOurs.has(result.code)) return { kind: 'unasked', failure: result };
      return isComplete(result) ? failureOfToken(auth, wrongPart(error)) : failureOfResult(auth, result);
    }
    const { access_token: value, token_type: type, expires_in: expiresIn } = granted;
    if (type !== 'bearer') return failureOfToken(auth, 'token_type');
    if (value.length > tokenLengthMax || !tokenForm.test(value)) return failureOfToken(auth, 'access_token');
    return { kind: 'token', token: { value, ...tokenTimes(expiresIn, requestedAt, random) } };
  };
}

// Failures of this process, or of what stands between it and all endpoints.
const isOurs: ReadonlySet<string> = new Set(['aborted', 'sender_error', 'proxy_error']);

// Visible ASCII (RFC 6749 appendix A.12), without spaces: it is sent within a header.
const tokenForm = /^[\x21-\x7e]+$/;

async function grant(
  { tokenUrl, clientId, clientSecret, scope, audience, clientAuthentication }: Auth,
  send: (body: Uint8Array, headers: Record<string, string>) => Promise<Response>,
): Promise<TokenEndpointResponse> {
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const authentication = (clientAuthentication === 'post' ? ClientSecretPost : ClientSecretBasic)(
    clientSecret,
  );
  const parameters = {
    ...(scope === null ? {} : { scope }),
    ...(audience === null ? {} : { audience }),
  };
  const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, {
    // The client of the callbacks refuses http: where the operator has not allowed it.
    [allowInsecureRequests]: true,
    // Without the library's name: the client of the callbacks sends its own.
    [customFetch]: (_url, { body, headers: { 'user-agent': _library, ...headers } }) =>
      send(Buffer.from(String(body)), { ...headers, 'accept-encoding': 'identity' }),
  });
  return processClientCredentialsResponse(server, client, response);
}

/** Only a complete answer 200 is one that the library reads. */
function toResponse(result: CallbackResult): Response {
  if (!isComplete(result)) throw new Error('the token endpoint gave no token');
  const type = result.headers['content-type'];
  return new Response(neededOf(result.excerpt), {
    headers: typeof type === 'string' ? { 'content-type': type } : {},
  });
}

function isComplete(result: CallbackResult): result is CallbackResult & { readonly kind: 'response' } {
  return result.kind === 'response' && result.statusCode === 200 && result.body === 'complete';
}

// The library would refuse an answer because of members that mean nothing here, and because of null.
function neededOf(text: string): string {
  const { access_token, token_type, expires_in } = Object(JSON.parse(text)) as Record<string, unknown>;
  return JSON.stringify({
    access_token: access_token ?? undefined,
    token_type: token_type ?? undefined,
    expires_in: expires_in ?? undefined,
  });
}

// The library names the member in its message.
function wrongPart(error: unknown): string {
  const message = error instanceof Error && !(error instanceof SyntaxError) ? error.message : '';
  return /access_token|token_type|expires_in|content-type/i.exec(message)?.[0] ?? 'its JSON';
}
