import type { Api } from '../deps.ts';
import { Problem, type ProblemCode, problemCodes } from '../shared/problem.ts';

const codes = Object.keys(problemCodes) as ProblemCode[];

/**
 * The pages to which the `type` of a problem leads: one for each code, and one with all of them. No token.
 */
export function addProblemRoutes(app: Api): void {
  app.get('/problems', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page('Errors of the API', codes)),
  );
  app.get<{ Params: { code: string } }>(
    '/problems/:code',
    { schema: { hide: true } },
    ({ params }, reply) => {
      const code = codes.find((known) => known === params.code);
      if (code === undefined) throw new Problem('not_found', '/problems lists every code.');
      return reply.type('text/html; charset=utf-8').send(page(code, [code]));
    },
  );
}

function page(title: string, shown: readonly ProblemCode[]): string {
  const sections = shown.map((code) => {
    const [status, summary] = problemCodes[code];
    return `<h2 id="${code}">${code}</h2>\n<p><strong>${status} · ${summary}.</strong> ${toHtml(problemTexts[code])}</p>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · filing-webhooks</title>
<h1>${title}</h1>
${sections.join('\n')}
<p><a href="/problems">Every error</a> · <a href="/docs/">API reference</a></p>
</html>
`;
}

// The texts are the daemon's own: Markdown with code spans and nothing else.
function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/**
 * The meaning of each error and what to do, for people: the pages below `/problems`, and docs/problems.md,
 * which a test holds to this list.
 */
export const problemTexts: Readonly<Record<ProblemCode, string>> = {
  malformed_request:
    'The request is not valid HTTP, or its path cannot be decoded. Send exactly one `Host` header, and percent-encode ids in the path.',
  malformed_json:
    'The body is not JSON, or not UTF-8. `detail` shows the fault with a few characters around it, or its place. A body with a field `__proto__`, or `constructor` with a field `prototype`, is refused as well.',
  unauthorized:
    'The request has no token, or one that is not valid here. Send `Authorization: Bearer <token>`. `detail` says whether the header is missing, has another form, or has a token that the daemon does not know.',
  read_only_token: 'The token may only read. Use one that was made without `readOnly`.',
  own_subscriptions_only:
    'The token was made with `subscriptions: "own"`: it reads the account, and manages the subscriptions that it made. For any other change use a token without that, or the operator token.',
  foreign_origin:
    'The `Origin` of a request with a session is neither the host to which it was sent nor `PUBLIC_URL`. A proxy in between changes `Host`: let it pass the one of the browser (nginx: `proxy_set_header Host $http_host`), or set `PUBLIC_URL` to the address of the page. `detail` names both hosts.',
  not_found:
    'There is nothing at this path, or not for this token: a token of an account sees only what lies under its own `/v1/accounts/{account}`. `/docs` lists all paths.',
  account_not_found:
    'No account has this name. `GET /v1/accounts` lists them, `PUT /v1/accounts/{account}` creates one; both need the operator token.',
  token_not_found: 'No token of this account has this id; it may be revoked. GET the list of tokens.',
  subscription_not_found:
    'No subscription of this account has this id; it may be deleted. GET the list of subscriptions.',
  filing_not_found:
    'No poll of this account has seen a filing with this id. Ids are those of the partner service; policy numbers are not.',
  event_not_found:
    'No event of this account has this id, or it was trimmed from the log for its age (`EVENT_RETENTION_MS`).',
  attempt_not_found: 'No attempt of this account has this id, or it is no longer kept.',
  filing_not_rejected: 'The filing is not rejected at present, so there is no rejection to mark as seen.',
  replay_not_found:
    'No replay has this id. The latest fifty of a subscription are kept, as long as the subscription exists.',
  method_not_allowed:
    'The path exists, but not with this method. The header `Allow` lists those that it has.',
  nothing_doubted:
    'Nothing of this account is held back, so there is nothing to accept. `health.doubt` of the account says what is held back.',
  account_quota_exceeded:
    'The account would store more than it may (docs/configuration.md, Limits of the API). Remove subscriptions, or shorten their URLs, headers and descriptions.',
  request_timeout: 'The request did not arrive in time. Send it again, as a whole.',
  payload_too_large:
    'The body is larger than 256 KiB, the one of signing in larger than 4 KiB, or it comes in too many small pieces.',
  uri_too_long: 'The path is too long. The id of a filing has at most 256 characters.',
  unsupported_media_type: 'Send the body as `application/json` in UTF-8, without `Content-Encoding`.',
  expectation_failed: 'Leave the header `Expect` out, or send `100-continue`.',
  subscription_unverified:
    'Nothing is sent to an endpoint before it is verified, no test call either. `POST …/verify` asks it at once; `lastError` of the subscription says what is missing.',
  nothing_to_verify: 'The subscription asks for no verification. Set `verification` with PATCH first.',
  subscription_disabled:
    'Nothing is sent for a disabled subscription. PATCH it with `"enabled": true`, or with another `expiresAt` where it has expired: that tries at once what waits.',
  invalid_request:
    'Values of the request are not valid. `errors` lists the first ten, each with its path and with what to write.',
  invalid_cursor:
    'The cursor is not one of this list. Pass a `nextCursor` exactly as the list returned it, with the same filters, or none to start over.',
  idempotency_key_reused:
    'Another request used this `Idempotency-Key` within 24 hours. Use a new key for a new request.',
  too_many_requests: 'Requests come too often. Wait as long as `Retry-After` says.',
  test_running: 'A test call of this subscription is under way. Wait for its answer.',
  too_many_tokens: 'The account has as many tokens as it may. Revoke some.',
  too_many_subscriptions: 'The account has as many subscriptions as it may. Delete some.',
  too_many_replays: 'The subscription has as many unfinished replays as it may. Wait until one has finished.',
  too_many_streams:
    'The token or its account has as many event streams open as it may. Close some, or share one.',
  headers_too_large:
    'The headers of the request take more than 16 KiB with the path. Send fewer, or shorter ones.',
  internal_error:
    'The daemon failed unexpectedly. The line `http.failed` of its log says why. Trying again may help; please report it.',
  starting:
    'The daemon has not started yet; `detail` says what it waits for. Nothing was done. Try again as `Retry-After` says.',
  store_unavailable:
    'Redis does not answer, or refuses writes. After a request that changes something it is not known whether the change was made: look, or send the same request again with its `Idempotency-Key`.',
  partner_unavailable:
    'A table with `q` needs the partner service for its COMPLETED filings, and it did not answer; `detail` says why. Try again as `Retry-After` says, or name the other statuses in `status`.',
  secret_unreadable:
    'A stored secret was sealed with a key that `ENCRYPTION_KEY` of this process does not have. The operator adds the key again (docs/operations.md).',
  record_unreadable:
    'A stored record cannot be read. The operator restores or removes it (docs/operations.md).',
  changes_refused:
    'The store was found emptied, so nothing is changed until the operator has decided (docs/operations.md).',
  store_emptied:
    'The store was found emptied, so nothing that it shows can be trusted until the operator has decided (docs/operations.md).',
  timeout: 'The daemon took too long to answer. Try again as `Retry-After` says.',
};
